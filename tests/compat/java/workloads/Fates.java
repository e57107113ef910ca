import java.util.List;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.errors.FencedInstanceIdException;
import org.apache.kafka.common.errors.NetworkException;
import org.apache.kafka.common.errors.NotEnoughReplicasAfterAppendException;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.apache.kafka.common.errors.UnknownProducerIdException;

/**
 * What the Java workloads make of errors, a line each: its name, what became of a send that may be tried again, of one
 * that may not, and of a commit.
 */
public final class Fates {
    private static final List<KafkaException> ERRORS = List.of(
        new TimeoutException("it was late"),
        new DisconnectException(),
        new NetworkException(),
        new NotLeaderOrFollowerException("it moved"),
        new NotEnoughReplicasException("too few"),
        new NotEnoughReplicasAfterAppendException("too few by then"),
        new UnknownProducerIdException("who?"),
        new ProducerFencedException("another has its name"),
        new KafkaException("closed"),
        new RecordTooLargeException("too much"),
        new TransactionAbortedException(),
        new KafkaException("the transaction is done for", new RecordTooLargeException("too much")),
        new CommitFailedException(),
        new RebalanceInProgressException("not now"),
        new FencedInstanceIdException("another has its name"));

    private Fates() {
    }

    public static void main(String[] arguments) {
        for (KafkaException each : ERRORS) {
            Object[] fates = {Fate.ofSend(each, true), Fate.ofSend(each, false), Fate.ofCommit(each)};
            System.out.println(Fate.name(each) + " " + fates[0] + " " + fates[1] + " " + fates[2]);
        }
        System.out.println(Row.quoted("\"quoted\" \\ gr\u00fc\u00df\u007f\n\ud83d\udc1f"));
    }
}
