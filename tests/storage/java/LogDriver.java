import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import kafka.log.UnifiedLog;
import kafka.server.BrokerTopicStats;
import kafka.server.RequestLocal;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.record.FileRecords.TimestampAndOffset;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.LogOffsetsListener;
import org.apache.kafka.storage.internals.log.LogStartOffsetIncrementReason;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/**
 * One log of Kafka's, moved by commands on standard input; each is answered by a line on standard
 * output: what it returned, or "! " and the exception.
 *
 *   open FOLDER CLEAN RECOVERY_POINT LOG_START NOW_MS PRODUCER_EXPIRATION_MS [KEY=VALUE of the topic]...
 *   append ORIGIN LEADER_EPOCH NOW_MS HEX    REPLICATION is a follower's, the others a leader's
 *   lead LEADER_EPOCH | roll NOW_MS | truncate OFFSET | restart OFFSET | high-watermark OFFSET | start OFFSET
 *   retain NOW_MS | expire NOW_MS | time TIMESTAMP | epoch EPOCH | state | close | abandon
 */
public class LogDriver {
    static final int NEVER_MS = Integer.MAX_VALUE;

    static class SetTime implements Time {
        long nowMs;
        public long milliseconds() { return nowMs; }
        public long nanoseconds() { return nowMs * 1_000_000; }
        public void sleep(long ms) { }
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
            throw new UnsupportedOperationException();
        }
    }

    /** What is to be done later is done at once, and what is to be done again and again never. */
    static class AtOnce implements Scheduler {
        final ScheduledExecutorService executor = Executors.newScheduledThreadPool(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        final ScheduledFuture<?> never = executor.schedule(() -> { }, 365, TimeUnit.DAYS);
        public void startup() { }
        public void shutdown() { }
        public void resizeThreadPool(int size) { }
        public ScheduledFuture<?> schedule(String name, Runnable task, long delayMs, long periodMs) {
            if (periodMs <= 0)
                task.run();
            return never;
        }
    }

    final SetTime time = new SetTime();
    final Scheduler scheduler = new AtOnce();
    final BrokerTopicStats stats = new BrokerTopicStats(false);
    UnifiedLog log;

    public static void main(String[] args) throws Exception {
        LogDriver driver = new LogDriver();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String answer;
            try {
                answer = driver.run(line.split(" "));
            } catch (Throwable error) {
                answer = "! " + error.getClass().getSimpleName() + " " + error.getMessage();
            }
            System.out.println(answer.replace('\n', ' '));
        }
    }

    String run(String[] command) throws Exception {
        switch (command[0]) {
            case "open": return open(command);
            case "append": return append(command);
            case "roll": at(command[1]); return "" + log.roll(scala.Option.empty()).baseOffset();
            case "lead": log.maybeAssignEpochStartOffset(Integer.parseInt(command[1]), log.logEndOffset()); return "";
            case "truncate": return "" + log.truncateTo(Long.parseLong(command[1]));
            case "restart": log.truncateFullyAndStartAt(Long.parseLong(command[1]), scala.Option.empty()); return "";
            case "high-watermark": return "" + log.updateHighWatermark(Long.parseLong(command[1]));
            case "start":
                return "" + log.maybeIncrementLogStartOffset(
                    Long.parseLong(command[1]), LogStartOffsetIncrementReason.ClientRecordDeletion);
            case "retain": at(command[1]); return "" + log.deleteOldSegments();
            case "expire": log.removeExpiredProducers(Long.parseLong(command[1])); return "";
            case "time": return found(log.fetchOffsetByTimestamp(Long.parseLong(command[1]), scala.Option.empty()));
            case "epoch": return "" + log.endOffsetForEpoch(Integer.parseInt(command[1]));
            case "state":
                return log.logStartOffset() + " " + log.logEndOffset() + " " + log.lastStableOffset();
            case "close": log.close(); return "";
            case "abandon": log.closeHandlers(); return "";
            default: throw new IllegalArgumentException(command[0]);
        }
    }

    void at(String nowMs) {
        time.nowMs = Long.parseLong(nowMs);
    }

    String open(String[] command) throws Exception {
        boolean clean = Boolean.parseBoolean(command[2]);
        at(command[5]);
        Map<String, String> topic = new HashMap<>();
        for (int i = 7; i < command.length; i++)
            topic.put(command[i].split("=")[0], command[i].split("=")[1]);
        log = UnifiedLog.apply(new File(command[1]), new LogConfig(topic), Long.parseLong(command[4]),
            Long.parseLong(command[3]), scheduler, stats, time, NEVER_MS,
            new ProducerStateManagerConfig(Integer.parseInt(command[6]), false), NEVER_MS,
            new LogDirFailureChannel(1), clean, scala.Option.empty(), true, new ConcurrentHashMap<>(), false,
            LogOffsetsListener.NO_OP_OFFSETS_LISTENER);
        return run(new String[] {"state"});
    }

    String append(String[] command) {
        AppendOrigin origin = AppendOrigin.valueOf(command[1]);
        at(command[3]);
        MemoryRecords records = MemoryRecords.readableRecords(
            ByteBuffer.wrap(HexFormat.of().parseHex(command[4])));
        LogAppendInfo info = origin == AppendOrigin.REPLICATION
            ? log.appendAsFollower(records, Integer.MAX_VALUE)
            : log.appendAsLeader(records, Integer.parseInt(command[2]), origin,
                MetadataVersion.latestProduction(), RequestLocal.NoCaching(), VerificationGuard.SENTINEL);
        return info.firstOffset() + " " + info.lastOffset();
    }

    static String found(scala.Option<TimestampAndOffset> found) {
        return found.isEmpty() ? "none" : found.get().timestamp + " " + found.get().offset;
    }
}
