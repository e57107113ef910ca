import java.util.Set;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.protocol.Errors;

/** What an error says of what was asked. */
final class Fate {
    // After these the record is certainly in no log. TransactionAborted is told of what never left the client
    // (RecordAccumulator.abortUndrainedBatches). Others say nothing: a time-out, a lost connection,
    // NOT_LEADER_OR_FOLLOWER.
    private static final Set<Class<?>> NEVER_APPENDED =
        Set.of(RecordTooLargeException.class, TransactionAbortedException.class);
    // Nor after this one, unless an attempt before was appended.
    private static final Class<?> NOT_APPENDED_NOW = NotEnoughReplicasException.class;
    private static final Set<Errors> NOT_KEPT = Set.of(
        Errors.ILLEGAL_GENERATION, Errors.UNKNOWN_MEMBER_ID, Errors.FENCED_INSTANCE_ID, Errors.REBALANCE_IN_PROGRESS);
    private static final Set<Errors> FORGOTTEN = Set.of(Errors.UNKNOWN_PRODUCER_ID, Errors.INVALID_PRODUCER_ID_MAPPING);

    private Fate() {
    }

    /**
     * Of a producer that {@code triesAgain} where it has to, or does not. What is wrapped was said of another record.
     */
    static Kind ofSend(Exception error, boolean triesAgain) {
        Class<?> said = error.getClass();
        boolean isNowhere = NEVER_APPENDED.contains(said) || (said == NOT_APPENDED_NOW && !triesAgain);
        return isNowhere ? Kind.REFUSED : Kind.UNKNOWN;
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
