import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Takes what the topic has to another one, with its offsets, in transactions (KIP-447). */
final class Mover implements Work {
    private static final byte[] NO_KEY = {};

    private final Life life;
    private final CommitRows commits;
    private final Numbers numbers;

    Mover(Life life) {
        this.life = life;
        this.commits = new CommitRows(life);
        this.numbers = new Numbers(life.plan().whole("ordinal"));
    }

    @Override
    public void run() throws InterruptedException {
        try (Transactions transactions = new Transactions(life, life.plan().text("target"))) {
            int targets = transactions.sender().partitions();
            try (Membership membership = new Membership(life)) {
                while (!life.stopping().isAsked()) {
                    ConsumerRecords<byte[], byte[]> taken = membership.taker.take();
                    if (!taken.isEmpty()) {
                        move(transactions, membership, taken, targets);
                    }
                }
            }
        }
    }

    private void move(
            Transactions transactions, Membership membership, ConsumerRecords<byte[], byte[]> taken, int targets) {
        try {
            carryOut(transactions, membership, taken, targets);
        } catch (KafkaException error) {
            transactions.endAfter(error);
            membership.beginAgain();
        }
    }

    private void carryOut(
            Transactions transactions, Membership membership, ConsumerRecords<byte[], byte[]> taken, int targets) {
        long begun = transactions.begin();
        for (ConsumerRecord<byte[], byte[]> record : taken) {
            transactions.sender().send(moved(record, targets, begun));
        }
        Map<TopicPartition, OffsetAndMetadata> places = CommitRows.after(taken);
        commits.asked(places, membership.generation(), begun);
        Sender sender = transactions.sender();
        Clients.persist(
            () -> sender.producer.sendOffsetsToTransaction(places, membership.consumer.groupMetadata()));
        transactions.commit();
    }

    /** Into the partition of the same number, so that the order is the same there. */
    private Send moved(ConsumerRecord<byte[], byte[]> record, int targets, long begun) {
        long number = numbers.next();
        byte[] value = Numbers.toValue(number, life.plan().whole("size"));
        Place origin = new Place(record.topic() + "-" + record.partition(), record.offset());
        byte[] key = record.key() == null ? NO_KEY : record.key();
        return new Send(number, key, value, record.partition() % targets, begun, origin);
    }
}
