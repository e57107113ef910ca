import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;

/** One producer and one topic: what is sent is told, and what became of each. */
final class Sender implements AutoCloseable {
    final KafkaProducer<byte[], byte[]> producer;
    private final History history;
    private final String topic;
    private final boolean triesAgain;

    Sender(Map<String, Object> settings, History history, String topic) {
        this.producer = Clients.producer(settings);
        this.history = history;
        this.topic = topic;
        this.triesAgain = !"0".equals(settings.get("retries"));
    }

    /** Asked for until the topic is there. Throws TimeoutException. */
    int partitions() {
        return producer.partitionsFor(topic).size();
    }

    /**
     * Waits while the client's memory is full. Throws KafkaException of a producer that is done for, or whose
     * transaction is.
     */
    void send(Send send) {
        Answer answer = new Answer(send, history.tell(Kind.SEND, place(send), send.asked()));
        try {
            producer.send(send.toRecord(topic), answer::told);
        } catch (KafkaException error) {
            answer.failed(error);
            throw error;
        }
    }

    /** Wait for the outcomes that are still missing: none is later than its delivery's time-out. */
    void finish() {
        producer.flush();
    }

    /** What has no outcome by then gets one. */
    void end(Duration patience) {
        producer.close(patience);
    }

    @Override
    public void close() {
        producer.close();
    }

    private String place(Send send) {
        return topic + "-" + send.partition();
    }

    /** One at most: of a record that it has taken up already the client may both throw and tell. */
    private final class Answer {
        private final AtomicBoolean isTold = new AtomicBoolean();
        private final Send send;
        private final long asked;

        Answer(Send send, long asked) {
            this.send = send;
            this.asked = asked;
        }

        void told(RecordMetadata metadata, Exception error) {
            if (error != null) {
                failed(error);
            } else {
                Row row = send.answered(asked);
                tell(Kind.ACKED, metadata.hasOffset() ? row.offset(metadata.offset()) : row); // acks=0 tells of none
            }
        }

        void failed(Exception error) {
            tell(Fate.ofSend(error, triesAgain), send.answered(asked).why(Fate.name(error)));
        }

        private void tell(Kind outcome, Row row) {
            if (isTold.compareAndSet(false, true)) {
                history.tell(outcome, place(send), row);
            }
        }
    }
}
