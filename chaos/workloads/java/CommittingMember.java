import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Commits after each batch, and waits for the answer; leaves and joins again now and then. */
final class CommittingMember implements Work {
    private final Life life;
    private final CommitRows commits;

    CommittingMember(Life life) {
        this.life = life;
        this.commits = new CommitRows(life);
    }

    @Override
    public void run() throws InterruptedException {
        while (!life.stopping().isAsked()) {
            stay();
        }
    }

    /** No member leaves with empty hands: where joining takes long, none would ever commit. */
    private void stay() throws InterruptedException {
        double leavesS = nowS() + staysS();
        boolean hasTaken = false;
        try (Membership membership = new Membership(life)) {
            while (!life.stopping().isAsked() && !(hasTaken && nowS() >= leavesS)) {
                ConsumerRecords<byte[], byte[]> taken = membership.taker.take();
                if (!taken.isEmpty()) {
                    hasTaken = true;
                    commit(membership, CommitRows.after(taken));
                }
            }
        }
    }

    private double staysS() {
        double aboutS = life.plan().number("leave_every_s");
        return aboutS == 0 ? Double.POSITIVE_INFINITY : aboutS * (0.5 + life.random().nextDouble());
    }

    private void commit(Membership membership, Map<TopicPartition, OffsetAndMetadata> places) {
        Map<TopicPartition, Long> asked = commits.asked(places, membership.generation(), null);
        KafkaException failure = null;
        try {
            membership.consumer.commitSync(places);
        } catch (KafkaException error) {
            failure = error;
        }
        commits.answered(places, asked, failure);
    }

    private static double nowS() {
        return System.nanoTime() / 1e9;
    }
}
