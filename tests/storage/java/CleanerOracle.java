import java.io.File;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import kafka.log.Cleaner;
import kafka.log.LogToClean;
import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.SkimpyOffsetMap;
import org.apache.kafka.storage.internals.utils.Throttler;
import scala.runtime.BoxedUnit;

/** Kafka's own cleaner, once over one log: FOLDER NOW_MS FIRST_DIRTY [KEY=VALUE of the topic]... */
public class CleanerOracle {
    static final int NEVER_MS = Integer.MAX_VALUE;

    /** Stands still: what a cleaning decides depends on it. */
    record FixedTime(long milliseconds) implements Time {
        public long nanoseconds() { return milliseconds * 1_000_000; }
        public void sleep(long ms) { }
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        Time time = new FixedTime(Long.parseLong(args[1]));
        long firstDirty = Long.parseLong(args[2]);
        Map<String, String> topic = new HashMap<>();
        topic.put("cleanup.policy", "compact");
        for (int i = 3; i < args.length; i++)
            topic.put(args[i].split("=")[0], args[i].split("=")[1]);
        KafkaScheduler scheduler = new KafkaScheduler(1);
        scheduler.startup();
        UnifiedLog log = UnifiedLog.apply(folder, new LogConfig(topic), 0, 0, scheduler,
            new BrokerTopicStats(false), time, NEVER_MS,
            new ProducerStateManagerConfig(NEVER_MS, false), NEVER_MS, new LogDirFailureChannel(1),
            true, scala.Option.empty(), true, new ConcurrentHashMap<>(), false,
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        log.updateHighWatermark(log.logEndOffset());
        Cleaner cleaner = new Cleaner(0, new SkimpyOffsetMap(1 << 20), 1 << 16, 1 << 20, 0.9,
            new Throttler(Double.MAX_VALUE, 300, "cleaner-io", "bytes", time), time,
            partition -> BoxedUnit.UNIT);
        LogToClean toClean = new LogToClean(
            log.topicPartition(), log, firstDirty, log.lastStableOffset(), false);
        System.out.println(cleaner.doClean(toClean, time.milliseconds())._1());
        log.close();
        scheduler.shutdown();
        System.exit(0);
    }
}
