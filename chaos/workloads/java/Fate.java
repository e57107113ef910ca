import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.protocol.Errors;

/** What an error says of what was asked. */
final class Fate {
    // After these the record is certainly in no log. TransactionAborted is told of what never left the client
    // (RecordAccumulator.abortUndrainedBatches). Of any other it was sent, perhaps more than once: a time-out, a lost
    // connection or NOT_LEADER_OR_FOLLOWER say nothing, and of NOT_ENOUGH_REPLICAS an attempt before it may have been
    // appended.
    private static final Set<Class<?>> NEVER_SENT =
        Set.of(RecordTooLargeException.class, TransactionAbortedException.class);
    private static final Set<Errors> NOT_KEPT = Set.of(
        Errors.ILLEGAL_GENERATION, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID, Errors.REBALANCE_IN_PROGRESS);
    private static final Set<Errors> FORGOTTEN = Set.of(Errors.UNKNOWN_PRODUCER_ID, Errors.INVALID_PRODUCER_ID_MAPPING);

    private Fate() {
    }

    /** What is wrapped was said of an earlier record. */
    static Kind ofSend(Exception error) {
        return NEVER_SENT.contains(error.getClass()) ? Kind.REFUSED : Kind.UNKNOWN;
    }

    /** Of ILLEGAL_GENERATION and UNKNOWN_MEMBER_ID the client makes CommitFailed. */
    static String ofCommit(KafkaException error) {
        Throwable cause = cause(error);
        boolean isRefused = cause instanceof CommitFailedException || NOT_KEPT.contains(Errors.forException(cause));
        return isRefused ? "refused" : "unknown";
    }

    /** Whether the coordinator knows nothing of the producer any more, and so nothing of its transaction's end. */
    static boolean isForgotten(KafkaException error) {
        return FORGOTTEN.contains(Errors.forException(cause(error)));
    }

    /** Of one of Kafka's errors its own, of one of the client's that of its class. */
    static String name(Exception error) {
        Throwable cause = cause(error);
        Errors known = Errors.forException(cause);
        return known == Errors.UNKNOWN_SERVER_ERROR ? cause.getClass().getSimpleName() : known.name();
    }

    /** A client that is in an error's state wraps that error, whatever it is asked. */
    private static Throwable cause(Exception error) {
        boolean wraps = error.getClass() == KafkaException.class && error.getCause() != null;
        return wraps ? error.getCause() : error;
    }
}
