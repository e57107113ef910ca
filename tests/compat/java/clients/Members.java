import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.TopicPartition;

/** Consumers that share groups: who gets what, as they come and go. */
final class Members {
    private static final int PARTITIONS = 3;
    private static final int SESSION_MS = 600_000; // static members stay for those who list them
    private static final List<String> TOPICS = List.of("shared-a", "shared-b");

    private final String servers;
    private final Said said;

    Members(String servers, Said said) throws Exception {
        this.servers = servers;
        this.said = said;
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(TOPICS.stream().map(each ->
                new NewTopic(each, PARTITIONS, (short) 1)).collect(Collectors.toList()))
                .all().get();
        }
        for (Class<? extends ConsumerPartitionAssignor> assignor : List.of(RangeAssignor.class,
            RoundRobinAssignor.class, StickyAssignor.class, CooperativeStickyAssignor.class)) {
            shared(assignor);
        }
        same("instance");
        oddOneOut();
    }

    /** A member, and what its listener was told since it was last asked. */
    private static final class Member implements ConsumerRebalanceListener, AutoCloseable {
        final KafkaConsumer<String, String> consumer;
        private final List<String> told = new ArrayList<>();

        Member(String servers, String group, String name, Map<String, Object> settings) {
            Map<String, Object> all = new HashMap<>(Map.of("group.id", group, "client.id", name,
                "heartbeat.interval.ms", 300, "session.timeout.ms", SESSION_MS));
            all.putAll(settings);
            consumer = Consuming.consumer(servers, all);
            consumer.subscribe(TOPICS, this);
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            told.add("got " + sorted(partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            told.add("gave " + sorted(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            told.add("lost " + sorted(partitions));
        }

        String tale() {
            String all = told.stream().filter(each -> !each.endsWith("[]"))
                .collect(Collectors.joining(", "));
            told.clear();
            return all;
        }

        @Override
        public void close() {
            consumer.close();
        }
    }

    private static String sorted(Collection<TopicPartition> partitions) {
        return new TreeSet<>(partitions.stream().map(TopicPartition::toString)
            .collect(Collectors.toSet())).toString();
    }

    /** Until each has a share, and nothing is left over. */
    private static void settle(Member... members) {
        Said.until("share for " + members.length, () -> {
            Stream.of(members).forEach(member -> member.consumer.poll(Consuming.SHORT));
            int[] shares = Stream.of(members)
                .mapToInt(each -> each.consumer.assignment().size()).toArray();
            return IntStream.of(shares).allMatch(share -> share > 0)
                && IntStream.of(shares).sum() == PARTITIONS * TOPICS.size();
        });
    }

    private void shared(Class<? extends ConsumerPartitionAssignor> assignor) {
        String name = assignor.getSimpleName();
        Map<String, Object> by = Map.of("partition.assignment.strategy", assignor.getName());
        try (Member first = new Member(servers, name, "a", by)) {
            settle(first);
            said.of(name + ": the first alone", first::tale);
            try (Member second = new Member(servers, name, "b", by)) {
                settle(first, second);
                said.of(name + ": the first of two", first::tale);
                said.of(name + ": the second", second::tale);
                said.of(name + ": generation", () ->
                    first.consumer.groupMetadata().generationId()
                        == second.consumer.groupMetadata().generationId());
            }
            settle(first);
            said.of(name + ": what it has again", () -> sorted(first.consumer.assignment()));
            first.consumer.enforceRebalance("to see");
            first.consumer.poll(Consuming.SHORT);
            settle(first);
        }
    }

    /** A static member that comes back, and one that takes its name. */
    private void same(String instance) {
        Map<String, Object> named = Map.of("group.instance.id", instance);
        int generation;
        try (Member first = new Member(servers, "static", "a", named)) {
            settle(first);
            generation = first.consumer.groupMetadata().generationId();
        }
        try (Member again = new Member(servers, "static", "b", named)) {
            settle(again);
            said.of("static: generation stays", () ->
                again.consumer.groupMetadata().generationId() == generation);
            said.of("static: the instance", () -> again.consumer.groupMetadata().groupInstanceId());
            try (Member thief = new Member(servers, "static", "c", named)) {
                settle(thief);
                said.of("static: whose name was taken", () -> {
                    Said.until("fencing", () -> {
                        again.consumer.poll(Consuming.SHORT);
                        return false;
                    });
                    return "nothing";
                });
            }
        }
    }

    private void oddOneOut() {
        try (Member first = new Member(servers, "odd", "a",
            Map.of("partition.assignment.strategy", RangeAssignor.class.getName()))) {
            settle(first);
            said.of("another protocol than the group's", () -> {
                try (Member other = new Member(servers, "odd", "b",
                    Map.of("partition.assignment.strategy", RoundRobinAssignor.class.getName()))) {
                    settle(other);
                }
                return "let in";
            });
            said.of("a session too short", () -> {
                try (Member other = new Member(servers, "odd", "b",
                    Map.of("session.timeout.ms", 1000))) {
                    settle(other);
                }
                return "let in";
            });
        }
    }
}
