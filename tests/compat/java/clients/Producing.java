import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.clients.producer.RoundRobinPartitioner;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.StringSerializer;

/** Producers of each kind, and what readers find of theirs. */
final class Producing {
    private final String servers;
    private final Said said;

    Producing(String servers, Said said) throws Exception {
        this.servers = servers;
        this.said = said;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(
                new NewTopic("written", 3, (short) 1),
                new NewTopic("stamped", 1, (short) 1)
                    .configs(Map.of("message.timestamp.type", "LogAppendTime")),
                new NewTopic("compacted", 1, (short) 1)
                    .configs(Map.of("cleanup.policy", "compact")),
                new NewTopic("small", 1, (short) 1)
                    .configs(Map.of("max.message.bytes", "200")),
                new NewTopic("strict", 1, (short) 1)
                    .configs(Map.of("message.timestamp.after.max.ms", "1000")),
                new NewTopic("careful", 1, (short) 1)
                    .configs(Map.of("min.insync.replicas", "2")))).all().get();
        }
        acks();
        codecs();
        partitioners();
        refused();
        said.of("what stands in each partition", () ->
            Consuming.all(servers, "written", false));
    }

    static KafkaProducer<String, String> producer(String servers, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(Map.of("bootstrap.servers", servers,
            "max.block.ms", 60_000));
        all.putAll(settings);
        return new KafkaProducer<>(all, new StringSerializer(), new StringSerializer());
    }

    /** Records with times of 1000 and on, to partition 0, one a batch. */
    static void some(String servers, String topic, int count) throws Exception {
        try (var producer = producer(servers, Map.of("linger.ms", 0))) {
            for (int each = 0; each < count; each++) {
                producer.send(new ProducerRecord<>(topic, 0, 1000L + each, "k" + each, "v" + each))
                    .get();
            }
        }
    }

    private void acks() {
        for (String acks : List.of("0", "1", "all")) {
            sent("acks " + acks, Map.of("acks", acks, "enable.idempotence", false),
                new ProducerRecord<>("written", 0, 10L, "acks", acks));
            String found = "acks=" + acks.hashCode();
            Said.until("record of acks " + acks, () ->
                Consuming.all(servers, "written", false).toString().contains(found));
        }
        sent("idempotent", Map.of(), new ProducerRecord<>("written", 0, 11L, "idempotent", "yes"));
        said.of("many in flight", () -> {
            try (var producer = producer(servers, Map.of("batch.size", 100, "linger.ms", 0))) {
                Future<RecordMetadata> last = null;
                for (int each = 0; each < 200; each++) {
                    last = producer.send(new ProducerRecord<>("written", 1, 12L, "m", "" + each));
                }
                return last.get();
            }
        });
    }

    private void codecs() {
        for (String codec : List.of("none", "gzip", "snappy", "lz4", "zstd")) {
            var record = new ProducerRecord<>("written", 2, 20L, codec, "x".repeat(500));
            record.headers().add(new RecordHeader("codec", codec.getBytes(StandardCharsets.UTF_8)))
                .add(new RecordHeader("nothing", null));
            sent("codec " + codec, Map.of("compression.type", codec), record);
        }
    }

    private void partitioners() {
        for (Map<String, Object> settings : List.<Map<String, Object>>of(
            Map.of(), Map.of("partitioner.class", RoundRobinPartitioner.class))) {
            said.of("partitions by " + settings.keySet(), () -> {
                StringBuilder chosen = new StringBuilder();
                try (var producer = producer(servers, settings)) {
                    for (int each = 0; each < 12; each++) {
                        chosen.append(producer.send(new ProducerRecord<>(
                            "written", null, 30L, "key" + each, "p")).get().partition());
                    }
                }
                return chosen;
            });
        }
        said.of("partitions of a topic", () -> {
            try (var producer = producer(servers, Map.of())) {
                return producer.partitionsFor("written").size();
            }
        });
    }

    private void refused() {
        sent("stamped by the broker", Map.of(),
            new ProducerRecord<>("stamped", 0, 5L, "k", "v"));
        sent("without a key", Map.of(), new ProducerRecord<>("compacted", 0, 5L, null, "v"));
        sent("too large", Map.of(), new ProducerRecord<>("small", 0, 5L, "k", "v".repeat(999)));
        sent("too large in batches", Map.of("compression.type", "gzip"),
            new ProducerRecord<>("small", 0, 5L, "k", "v".repeat(40_000)));
        sent("too late", Map.of(), new ProducerRecord<>("strict", 0, 1L << 45, "k", "v"));
        sent("too few replicas", Map.of("retries", 0, "enable.idempotence", false, "acks", "all"),
            new ProducerRecord<>("careful", 0, 5L, "k", "v"));
        said.of("to no such partition", () -> {
            try (var producer = producer(servers, Map.of("max.block.ms", 500))) {
                Said.until("partitions", () ->
                    Said.endsInTime(() -> producer.partitionsFor("written")));
                return producer.send(new ProducerRecord<>("written", 9, 5L, "k", "v")).get();
            }
        });
        sent("to an unknown topic", Map.of("max.block.ms", 500),
            new ProducerRecord<>("unknown", 0, 5L, "k", "v"));
        sent("to a bad name", Map.of(), new ProducerRecord<>("bad name", 0, 5L, "k", "v"));
    }

    private void sent(
        String call, Map<String, Object> settings, ProducerRecord<String, String> record) {
        said.of(call, () -> {
            try (var producer = producer(servers, settings)) {
                RecordMetadata done = producer.send(record).get();
                return done + " at " + done.timestamp();
            }
        });
    }
}
