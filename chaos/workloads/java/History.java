import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/**
 * A history as it happens: a line of JSON a row, each written at once by one call, so that a process that is killed
 * leaves all but its last line (chaos/history/writer.py).
 */
final class History implements AutoCloseable {
    private static final long MICROS_A_SECOND = 1_000_000;
    private static final long NANOS_A_MICRO = 1_000;

    private final FileChannel file;
    private final String process;
    private long sequence;

    /** Throws FileAlreadyExistsException for a file that another life has written. */
    History(Path path, String process) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND);
        this.process = Row.quoted(process);
    }

    /** Write a row; its sequence. Threads may share it: a producer tells of acks on one of its own. */
    synchronized long tell(Kind what, String subject, Row row) {
        sequence++;
        String line = "{\"at_us\":" + nowUs() + ",\"process\":" + process + ",\"sequence\":" + sequence
            + ",\"what\":\"" + what + "\",\"subject\":" + Row.quoted(subject) + row + "}\n";
        ByteBuffer left = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
        try {
            while (left.hasRemaining()) {
                file.write(left);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
        return sequence;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    private static long nowUs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * MICROS_A_SECOND + now.getNano() / NANOS_A_MICRO;
    }
}
