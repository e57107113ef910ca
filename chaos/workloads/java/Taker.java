import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** Takes batches of records, and tells what was assigned and what was handed on. */
final class Taker {
    private static final Duration POLL = Duration.ofMillis(300);
    private static final int NO_EPOCH = -1;

    private final Life life;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String group;

    /** {@code group} is null for a reader that is in none. */
    Taker(Life life, KafkaConsumer<byte[], byte[]> consumer, String group) {
        this.life = life;
        this.consumer = consumer;
        this.group = group;
    }

    /** Some records of partitions that are the reader's at the end of the call. An error is tried again. */
    ConsumerRecords<byte[], byte[]> take() throws InterruptedException {
        ConsumerRecords<byte[], byte[]> taken = ConsumerRecords.empty();
        try {
            taken = consumer.poll(POLL);
        } catch (KafkaException error) {
            System.err.println(error);
            life.stopping().sleep(POLL.toMillis() / 1e3);
        }
        for (TopicPartition partition : taken.partitions()) {
            tellRuns(partition, taken.records(partition));
        }
        return taken;
    }

    /** Tell that reading begins, wherever that may be. */
    void begin(Collection<TopicPartition> assigned, Integer generation) {
        for (TopicPartition each : assigned) {
            tell(Kind.ASSIGNED, each, ofGeneration(generation));
        }
    }

    /** Tell that reading begins again. */
    void beginAt(TopicPartition assigned, long offset, int generation) {
        tell(Kind.ASSIGNED, assigned, ofGeneration(generation).offset(offset));
    }

    void tellRevoked(Collection<TopicPartition> revoked, String how, int generation) {
        for (TopicPartition each : revoked) {
            tell(Kind.REVOKED, each, ofGeneration(generation).after(how));
        }
    }

    /** Offsets that follow each other, of one leader epoch, are one run. */
    private void tellRuns(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
        ConsumerRecord<byte[], byte[]> first = null;
        List<Long> values = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (first != null && !follows(record, first, values.size())) {
                tellRun(partition, first, values);
                values.clear();
            }
            first = values.isEmpty() ? record : first;
            values.add(Numbers.of(record));
        }
        if (first != null) {
            tellRun(partition, first, values);
        }
    }

    private static boolean follows(
            ConsumerRecord<byte[], byte[]> record, ConsumerRecord<byte[], byte[]> first, int count) {
        return record.offset() == first.offset() + count && epoch(record) == epoch(first);
    }

    private void tellRun(TopicPartition partition, ConsumerRecord<byte[], byte[]> first, List<Long> values) {
        tell(Kind.POLLED, partition, new Row().epoch(epoch(first)).offset(first.offset()).values(values));
    }

    private static int epoch(ConsumerRecord<byte[], byte[]> record) {
        return record.leaderEpoch().orElse(NO_EPOCH);
    }

    private static Row ofGeneration(Integer generation) {
        return generation == null ? new Row() : new Row().epoch(generation);
    }

    private void tell(Kind what, TopicPartition partition, Row row) {
        life.history().tell(what, partition.toString(), row.group(group));
    }
}
