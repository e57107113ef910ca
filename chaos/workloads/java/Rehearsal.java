import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.KafkaConsumer;

/** Makes a client of each sort, far from any broker, so that the JVM learns which classes they are made of. */
public final class Rehearsal {
    private static final Map<String, Object> NOBODY =
        Map.of("bootstrap.servers", "127.0.0.1:1", "client.id", "rehearsal");

    private Rehearsal() {
    }

    public static void main(String[] arguments) {
        Clients.producer(Clients.with(Clients.TRANSACTIONAL, Clients.with(NOBODY, Map.of("transactional.id", "none"))))
            .close();
        Map<String, Object> member = Clients.with(Clients.MEMBER, Clients.with(NOBODY, Map.of("group.id", "none")));
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(member)) {
            consumer.subscribe(Set.of("nothing"));
            consumer.poll(Duration.ZERO);
        }
    }
}
