import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.kafka.common.KafkaException;

/** Producers without transactions: plain, idempotent, and of compacted topics. */
final class SteadyProducer implements Work {
    private static final int ANY_PARTITION = -1;

    private final Life life;
    private final Plan plan;
    private final Numbers numbers;
    private Sender sender;

    SteadyProducer(Life life) {
        this.life = life;
        this.plan = life.plan();
        this.numbers = new Numbers(plan.whole("ordinal"));
        this.sender = begin();
    }

    /** Until it is stopped, or has sent what it was to. */
    @Override
    public void run() throws InterruptedException {
        int partitions = sender.partitions();
        int count = plan.whole("count");
        Pace pace = new Pace(plan.number("rate"), life.stopping());
        for (int sent = 0; count == 0 || sent < count; sent++) {
            if (!pace.comes() || !isTaken(draw(partitions))) {
                break;
            }
        }
        sender.finish();
        sender.close();
    }

    /** False if the producer is done for, and no other is to take over. */
    private boolean isTaken(Send send) {
        try {
            sender.send(send);
        } catch (KafkaException error) {
            sender.finish();
            sender.close();
            sender = begin();
            return plan.flag("take_over");
        }
        return true;
    }

    /** A key stays in one partition, so that its order can be judged. */
    private Send draw(int partitions) {
        long number = numbers.next();
        byte[] key = ("key-" + life.random().nextInt(plan.whole("keys"))).getBytes(StandardCharsets.US_ASCII);
        int chosen = plan.whole("partition");
        boolean deletes = isCompacted() && life.random().nextDouble() < plan.number("tombstones");
        byte[] value = deletes ? null : Numbers.toValue(number, plan.whole("size"));
        return Send.alone(number, key, value, chosen == ANY_PARTITION ? home(key, partitions) : chosen);
    }

    /** The same as over librdkafka. */
    private static int home(byte[] key, int partitions) {
        CRC32 crc = new CRC32();
        crc.update(key);
        return (int) (crc.getValue() % partitions);
    }

    private Sender begin() {
        return new Sender(life.settings(defaults()), life.history(), plan.text("topic"));
    }

    private Map<String, Object> defaults() {
        boolean isPlain = plan.text("kind").equals("plain");
        return isPlain ? Clients.with(Clients.PLAIN, Map.of("acks", plan.text("acks"))) : Clients.IDEMPOTENT;
    }

    private boolean isCompacted() {
        return plan.text("kind").equals("compacted");
    }
}
