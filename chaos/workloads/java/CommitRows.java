import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/** What a member asks to be kept, and what it is told. */
final class CommitRows {
    private final History history;
    private final String group;

    CommitRows(Life life) {
        this.history = life.history();
        this.group = life.plan().text("group");
    }

    /** The offsets to go on from. */
    static Map<TopicPartition, OffsetAndMetadata> after(ConsumerRecords<byte[], byte[]> taken) {
        Map<TopicPartition, OffsetAndMetadata> places = new HashMap<>();
        taken.forEach(each -> places.put(
            new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1)));
        return places;
    }

    /** The sequence of each one's row; {@code transaction} is that of its transaction-begun, or null. */
    Map<TopicPartition, Long> asked(
            Map<TopicPartition, OffsetAndMetadata> places, int generation, Long transaction) {
        Map<TopicPartition, Long> asked = new HashMap<>();
        places.forEach((partition, place) -> {
            Row row = new Row().group(group).offset(place.offset()).epoch(generation);
            if (transaction != null) {
                row.causedBy(transaction);
            }
            asked.put(partition, history.tell(Kind.COMMIT_ASKED, partition.toString(), row));
        });
        return asked;
    }

    /** {@code error} is null where they were kept. */
    void answered(
            Map<TopicPartition, OffsetAndMetadata> places, Map<TopicPartition, Long> asked, KafkaException error) {
        String result = error == null ? "kept" : Fate.ofCommit(error);
        String why = error == null ? null : Fate.name(error);
        places.forEach((partition, place) -> {
            Row row = new Row().group(group).offset(place.offset()).causedBy(asked.get(partition));
            history.tell(Kind.COMMIT_ANSWERED, partition.toString(), row.after(result).why(why));
        });
    }
}
