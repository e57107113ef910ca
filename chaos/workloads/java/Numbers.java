import java.nio.charset.StandardCharsets;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;

/** The numbers by which sends are known, into records and out of them (chaos/history/numbers.py). */
final class Numbers {
    static final String HEADER = "logquake.number";
    private static final int BITS_OF_COUNT = 40;
    private static final long NOT_SENT = -1;

    private long next;

    Numbers(int ordinal) {
        next = (long) ordinal << BITS_OF_COUNT;
    }

    long next() {
        return next++;
    }

    /** With blanks behind it, up to a size in bytes. */
    static byte[] toValue(long number, int size) {
        String digits = Long.toString(number);
        return (digits + " ".repeat(Math.max(0, size - digits.length()))).getBytes(StandardCharsets.US_ASCII);
    }

    /** Of a record that no workload made, -1. */
    static long of(ConsumerRecord<byte[], byte[]> record) {
        byte[] told = record.value() != null ? record.value() : inHeader(record);
        try {
            return Math.max(NOT_SENT, Long.parseLong(new String(told, StandardCharsets.US_ASCII).strip()));
        } catch (NumberFormatException error) {
            return NOT_SENT;
        }
    }

    /** Of a tombstone. */
    private static byte[] inHeader(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(HEADER);
        return header == null || header.value() == null ? new byte[0] : header.value();
    }
}
