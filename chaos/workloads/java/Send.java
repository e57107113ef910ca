import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/**
 * What is to be sent, and its number. A {@code value} that is null deletes the key; {@code transaction} is the sequence
 * of its transaction-begun, {@code origin} the place of the record that it was made of, where it has them.
 */
record Send(long number, byte[] key, byte[] value, int partition, Long transaction, Place origin) {

    static Send alone(long number, byte[] key, byte[] value, int partition) {
        return new Send(number, key, value, partition, null, null);
    }

    ProducerRecord<byte[], byte[]> toRecord(String topic) {
        List<Header> headers = value == null ? List.of(new RecordHeader(Numbers.HEADER, digits())) : List.of();
        return new ProducerRecord<>(topic, partition, key, value, headers);
    }

    /** The row that asks. */
    Row asked() {
        Row row = named();
        if (transaction != null) {
            row.causedBy(transaction);
        }
        if (origin != null) {
            row.before(origin);
        }
        return value == null ? row.after("tombstone") : row;
    }

    /** A row that answers the one of this sequence. */
    Row answered(long asked) {
        return named().causedBy(asked);
    }

    private Row named() {
        return new Row().value(number).key(new String(key, StandardCharsets.UTF_8));
    }

    private byte[] digits() {
        return Numbers.toValue(number, 0);
    }
}
