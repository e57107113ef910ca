import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** A consumer that shares a topic with the others of its group, and what it takes. */
final class Membership implements AutoCloseable, ConsumerRebalanceListener {
    private static final int A_BATCH = 500; // records, at most: what a commit takes longest is its answer
    private static final String ASSIGNORS = "org.apache.kafka.clients.consumer.";
    private static final Map<String, String> STRATEGIES = Map.of(
        "range", ASSIGNORS + "RangeAssignor",
        "roundrobin", ASSIGNORS + "RoundRobinAssignor",
        "cooperative-sticky", ASSIGNORS + "CooperativeStickyAssignor");

    final KafkaConsumer<byte[], byte[]> consumer;
    final Taker taker;

    Membership(Life life) {
        Plan plan = life.plan();
        consumer = Clients.consumer(settings(life));
        taker = new Taker(life, consumer, plan.text("group"));
        consumer.subscribe(Set.of(plan.text("topic")), this);
    }

    private static Map<String, Object> settings(Life life) {
        Plan plan = life.plan();
        Map<String, Object> settings = life.settings(Clients.MEMBER);
        settings.put("group.id", plan.text("group"));
        settings.put("isolation.level", plan.text("isolation"));
        settings.put("max.poll.records", A_BATCH);
        settings.put("partition.assignment.strategy", STRATEGIES.get(plan.text("strategy")));
        if (!plan.text("instance_id").isEmpty()) {
            settings.put("group.instance.id", plan.text("instance_id"));
        }
        return settings;
    }

    /** That of the last time it joined; -1 before. */
    int generation() {
        return consumer.groupMetadata().generationId();
    }

    /** The next record of each partition is the first one that the group has not committed. */
    void beginAgain() {
        Set<TopicPartition> assigned = consumer.assignment();
        Map<TopicPartition, OffsetAndMetadata> committed = new HashMap<>();
        Clients.persist(() -> committed.putAll(consumer.committed(assigned)));
        for (TopicPartition each : assigned) {
            OffsetAndMetadata offset = committed.get(each);
            if (offset == null) {
                taker.begin(Set.of(each), generation());
                consumer.seekToBeginning(Set.of(each));
            } else {
                taker.beginAt(each, offset.offset(), generation());
                consumer.seek(each, offset);
            }
        }
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
        taker.begin(assigned, generation());
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
        taker.tellRevoked(revoked, "revoked", generation());
    }

    @Override
    public void onPartitionsLost(Collection<TopicPartition> lost) {
        taker.tellRevoked(lost, "lost", generation());
    }

    @Override
    public void close() {
        consumer.close();
    }
}
