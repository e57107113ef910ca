import java.time.Duration;
import java.util.Map;
import org.apache.kafka.common.KafkaException;

/**
 * One transaction after the other under one transactional id: after a fatal error the next producer takes over.
 *
 * <p>Throws KafkaException for what the transaction does not survive: endAfter() then.
 */
final class Transactions implements AutoCloseable {
    private final Life life;
    private final String topic;
    private final String id;
    private Sender sender;
    private long begun;
    private boolean isCommitAsked;

    Transactions(Life life, String topic) {
        this.life = life;
        this.topic = topic;
        String said = life.plan().text("transactional_id");
        this.id = said.isEmpty() ? life.plan().text("process") : said;
        this.sender = take();
    }

    Sender sender() {
        return sender;
    }

    /** The sequence that its records, and its commits of offsets, are to name. */
    long begin() {
        isCommitAsked = false;
        begun = life.history().tell(Kind.TRANSACTION_BEGUN, id, new Row());
        sender.producer.beginTransaction();
        return begun;
    }

    void commit() {
        isCommitAsked = true;
        ending("commit");
        Clients.persist(sender.producer::commitTransaction);
        ended("committed", null);
    }

    void abort() {
        ending("abort");
        Clients.persist(sender.producer::abortTransaction);
        ended("aborted", null);
    }

    /**
     * Abort if that is possible, else leave it to the next producer's beginning.
     *
     * <p>A transaction whose commit was never asked for is aborted either way. One whose coordinator has forgotten the
     * producer may have been committed, and the client would call it aborted. Throws ProducerOver.
     */
    void endAfter(KafkaException error) {
        boolean mayBeCommitted = isCommitAsked && Fate.isForgotten(error);
        if (mayBeCommitted || !isAborted()) {
            takeOver(Fate.name(error));
        }
    }

    @Override
    public void close() {
        sender.close();
    }

    private boolean isAborted() {
        try {
            abort();
        } catch (KafkaException error) {
            return false;
        }
        return true;
    }

    private void takeOver(String why) {
        sender.end(Duration.ZERO);
        if (!life.plan().flag("take_over")) {
            throw new ProducerOver(why);
        }
        sender = take();
        ended(isCommitAsked ? "unknown" : "aborted", why);
    }

    private void ending(String how) {
        life.history().tell(Kind.TRANSACTION_ENDING, id, new Row().causedBy(begun).after(how));
    }

    private void ended(String fate, String why) {
        life.history().tell(Kind.TRANSACTION_ENDED, id, new Row().causedBy(begun).after(fate).why(why));
    }

    private Sender take() {
        Map<String, Object> settings = life.settings(Clients.TRANSACTIONAL);
        settings.put("transactional.id", id);
        Sender taken = new Sender(settings, life.history(), topic);
        Clients.persist(taken.producer::initTransactions);
        return taken;
    }
}
