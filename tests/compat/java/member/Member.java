import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a group that says what it has and reads, until its input ends. */
final class Member {
    private static final Duration SHORT = Duration.ofMillis(100);

    private Member() {
    }

    public static void main(String[] arguments) throws Exception {
        List<String> topics = Arrays.asList(arguments).subList(3, arguments.length);
        try (KafkaConsumer<String, String> consumer = consumer(arguments)) {
            consumer.subscribe(topics, listener(consumer));
            Thread input = new Thread(Member::readAll);
            input.setDaemon(true);
            input.start();
            while (input.isAlive()) {
                consumer.poll(SHORT).forEach(each -> say("read " + each.value()));
            }
        }
    }

    private static void readAll() {
        try {
            System.in.readAllBytes();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static KafkaConsumer<String, String> consumer(String[] arguments) {
        Class<?> assignor = arguments[2].equals("range")
            ? RangeAssignor.class : CooperativeStickyAssignor.class;
        return new KafkaConsumer<>(Map.of(
            "bootstrap.servers", arguments[0],
            "group.id", arguments[1],
            "partition.assignment.strategy", assignor.getName(),
            "auto.offset.reset", "earliest",
            "heartbeat.interval.ms", 300,
            "key.deserializer", StringDeserializer.class.getName(),
            "value.deserializer", StringDeserializer.class.getName()));
    }

    private static ConsumerRebalanceListener listener(KafkaConsumer<String, String> consumer) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                tell(consumer.assignment());
            }

            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                TreeSet<String> left = named(consumer.assignment());
                left.removeAll(named(partitions));
                say("has " + String.join(" ", left));
            }
        };
    }

    private static void tell(Collection<TopicPartition> partitions) {
        say("has " + String.join(" ", named(partitions)));
    }

    private static TreeSet<String> named(Collection<TopicPartition> partitions) {
        return partitions.stream().map(TopicPartition::toString)
            .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
