import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** One consumer at a time: what it finds, where it stands, and what it commits. */
final class Consuming {
    static final Duration SHORT = Duration.ofMillis(200);
    private static final TopicPartition FIRST = new TopicPartition("read", 0);
    private static final TopicPartition SECOND = new TopicPartition("read", 1);
    private static final TopicPartition UNKNOWN = new TopicPartition("unknown", 0);

    private final String servers;
    private final Said said;

    Consuming(String servers, Said said) throws Exception {
        this.servers = servers;
        this.said = said;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(new NewTopic("read", 2, (short) 1))).all().get();
        }
        Producing.some(servers, "read", 20);
        positions();
        offsets();
        commits();
        subscriptions();
    }

    static KafkaConsumer<String, String> consumer(String servers, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(Map.of("bootstrap.servers", servers,
            "auto.offset.reset", "earliest", "enable.auto.commit", false,
            "default.api.timeout.ms", 60_000));
        all.putAll(settings);
        return new KafkaConsumer<>(all, new StringDeserializer(), new StringDeserializer());
    }

    /** What a reader finds in each partition, with the headers. */
    static Map<TopicPartition, List<String>> all(
        String servers, String topic, boolean isCommitted) {
        Map<TopicPartition, List<String>> found = new TreeMap<>(
            java.util.Comparator.comparing(TopicPartition::toString));
        try (var consumer = consumer(servers,
            Map.of("isolation.level", isCommitted ? "read_committed" : "read_uncommitted"))) {
            Set<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map(each -> new TopicPartition(topic, each.partition()))
                .collect(Collectors.toSet());
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            Said.until("end of " + topic, () -> {
                for (ConsumerRecord<String, String> each : consumer.poll(SHORT)) {
                    found.computeIfAbsent(new TopicPartition(topic, each.partition()),
                        none -> new ArrayList<>()).add(text(each));
                }
                return ends.entrySet().stream()
                    .allMatch(end -> consumer.position(end.getKey()) >= end.getValue());
            });
        }
        return found;
    }

    private static String text(ConsumerRecord<String, String> record) {
        return record.offset() + ":" + record.key() + "=" + record.value().hashCode() + "@"
            + record.timestampType() + record.timestamp() + record.headers()
            + record.leaderEpoch() + record.serializedValueSize();
    }

    private void positions() {
        try (var consumer = consumer(servers, Map.of("auto.offset.reset", "none",
            "max.poll.records", 5))) {
            consumer.assign(List.of(FIRST, SECOND));
            said.of("poll without a position", () -> consumer.poll(SHORT));
            consumer.seek(FIRST, 7);
            consumer.seekToEnd(List.of(SECOND));
            said.of("first after seeking", () -> next(consumer));
            said.of("position", () -> consumer.position(FIRST));
            said.of("position at the end", () -> consumer.position(SECOND));
            consumer.seek(FIRST, 1000);
            said.of("poll out of range", () -> next(consumer));
            consumer.seek(FIRST, 0);
            consumer.pause(List.of(FIRST));
            said.of("poll while it is paused", () -> consumer.poll(SHORT).count());
            said.of("what is paused", consumer::paused);
            consumer.resume(List.of(FIRST));
            said.of("first after it goes on", () -> next(consumer));
            said.of("lag", () -> consumer.currentLag(FIRST));
            said.of("position of what is not assigned", () -> consumer.position(UNKNOWN));
        }
    }

    private static Object next(KafkaConsumer<String, String> consumer) {
        AtomicReference<Object> found = new AtomicReference<>();
        Said.until("record", () -> {
            consumer.poll(SHORT).forEach(each -> found.compareAndSet(null, text(each)));
            return found.get() != null;
        });
        return found.get();
    }

    private void offsets() {
        try (var consumer = consumer(servers, Map.of("allow.auto.create.topics", false))) {
            Set<TopicPartition> both = Set.of(FIRST, SECOND);
            said.of("beginnings", () -> consumer.beginningOffsets(both));
            said.of("ends", () -> consumer.endOffsets(both));
            for (long time : List.of(0L, 1005L, 1019L, 1020L)) {
                said.of("offset for time " + time, () ->
                    consumer.offsetsForTimes(Map.of(FIRST, time, SECOND, time)));
            }
            said.of("partitions", () -> consumer.partitionsFor("read"));
            said.of("partitions of the unknown", () -> consumer.partitionsFor("unknown"));
            said.inTime("ends of the unknown", () ->
                consumer.endOffsets(Set.of(UNKNOWN), Duration.ofMillis(500)));
            said.of("topics", () -> consumer.listTopics().keySet());
        }
    }

    private void commits() {
        try (var consumer = consumer(servers, Map.of("group.id", "alone"))) {
            consumer.assign(List.of(FIRST, SECOND));
            said.of("committed before", () -> consumer.committed(Set.of(FIRST, SECOND)));
            said.of("commit", () -> {
                consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(3, "note")));
                return consumer.committed(Set.of(FIRST, SECOND));
            });
            said.of("commit for an unknown topic", () -> {
                consumer.commitSync(Map.of(UNKNOWN, new OffsetAndMetadata(3)),
                    Duration.ofMillis(800));
                return "done";
            });
            said.of("commit with too much metadata", () -> {
                consumer.commitSync(Map.of(FIRST, new OffsetAndMetadata(3, "m".repeat(5000))));
                return "done";
            });
            said.of("commit later", () -> {
                AtomicReference<String> told = new AtomicReference<>();
                consumer.commitAsync(Map.of(SECOND, new OffsetAndMetadata(0)),
                    (offsets, error) -> told.set(offsets + " " + error));
                Said.until("answer to a commit", () -> {
                    consumer.poll(SHORT);
                    return told.get() != null;
                });
                return told.get();
            });
            said.of("membership", () -> consumer.groupMetadata());
        }
        try (var consumer = consumer(servers, Map.of())) {
            consumer.assign(List.of(FIRST));
            said.of("commit without a group", () -> consumer.committed(Set.of(FIRST)));
        }
    }

    private void subscriptions() {
        try (var consumer = consumer(servers, Map.of("group.id", "by-pattern"))) {
            consumer.subscribe(Pattern.compile("re[a-f]d"));
            said.of("first by pattern", () -> next(consumer));
            said.of("assignment by pattern", consumer::assignment);
            said.of("subscription by pattern", consumer::subscription);
            said.of("auto commit of nothing", () -> {
                consumer.commitSync();
                return consumer.committed(Set.of(FIRST, SECOND));
            });
            consumer.unsubscribe();
        }
        try (var consumer = consumer(servers, Map.of("group.id", "by-pattern",
            "enable.auto.commit", true))) {
            consumer.subscribe(List.of("read"));
            said.of("where it goes on", () -> {
                Said.until("assignment", () -> {
                    consumer.poll(SHORT);
                    return !consumer.assignment().isEmpty();
                });
                return consumer.position(FIRST);
            });
        }
        try (var consumer = consumer(servers, Map.of("group.id", "of-tomorrow",
            "group.protocol", "consumer"))) {
            consumer.subscribe(List.of("read"));
            said.of("a group of KIP-848", () -> next(consumer));
        }
    }
}
