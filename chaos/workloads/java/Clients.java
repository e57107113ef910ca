import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** How the clients are set: to outlive lost connections, as clients.py sets librdkafka's. */
final class Clients {
    private static final Map<String, Object> OF_ALL = Map.of(
        // A paused broker takes bytes and never answers: give it up before the delivery time-out does.
        "request.timeout.ms", 4_000,
        "reconnect.backoff.ms", 20,
        "reconnect.backoff.max.ms", 200,
        "retry.backoff.ms", 50);
    static final Map<String, Object> PLAIN = with(OF_ALL, Map.of(
        "enable.idempotence", false,
        "linger.ms", 20,
        "batch.size", 262_144,
        "delivery.timeout.ms", 60_000));
    static final Map<String, Object> IDEMPOTENT = with(PLAIN, Map.of("enable.idempotence", true, "acks", "all"));
    static final Map<String, Object> TRANSACTIONAL = with(OF_ALL, Map.of(
        "transaction.timeout.ms", 30_000,
        "delivery.timeout.ms", 30_000));
    static final Map<String, Object> READER = with(OF_ALL, Map.of(
        "enable.auto.commit", false,
        "allow.auto.create.topics", false,
        "auto.offset.reset", "earliest",
        "max.partition.fetch.bytes", 1 << 20));
    static final Map<String, Object> MEMBER = with(READER, Map.of(
        "session.timeout.ms", 45_000,
        "heartbeat.interval.ms", 1_000));

    private Clients() {
    }

    static KafkaProducer<byte[], byte[]> producer(Map<String, Object> settings) {
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    static KafkaConsumer<byte[], byte[]> consumer(Map<String, Object> settings) {
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** The names that are no client's settings: Kafka's clients pass over them. */
    static List<String> unknown(Map<String, String> settings) {
        Set<String> names = new HashSet<>(settings.keySet());
        names.removeAll(ProducerConfig.configNames());
        names.removeAll(ConsumerConfig.configNames());
        return names.stream().sorted().toList();
    }

    /** What may be tried again, after a time-out for instance, is tried again; each try has patience of its own. */
    static void persist(Runnable action) {
        boolean isDone = false;
        while (!isDone) {
            try {
                action.run();
                isDone = true;
            } catch (RetriableException error) {
                continue;
            }
        }
    }

    static Map<String, Object> with(Map<String, Object> settings, Map<String, Object> more) {
        Map<String, Object> all = new HashMap<>(settings);
        all.putAll(more);
        return Map.copyOf(all);
    }
}
