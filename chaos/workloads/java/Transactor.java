import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.apache.kafka.common.KafkaException;

/** Writes records of its own, over all partitions, in transactions, and aborts a share of them. */
final class Transactor implements Work {
    private final Life life;
    private final Plan plan;
    private final Random random;
    private final Numbers numbers;

    Transactor(Life life) {
        this.life = life;
        this.plan = life.plan();
        this.random = life.random();
        this.numbers = new Numbers(plan.whole("ordinal"));
    }

    @Override
    public void run() throws InterruptedException {
        try (Transactions transactions = new Transactions(life, plan.text("topic"))) {
            int partitions = transactions.sender().partitions();
            int count = plan.whole("count");
            Pace pace = new Pace(plan.number("rate"), life.stopping());
            for (int ended = 0; count == 0 || ended < count; ended++) {
                int pieces = 1 + random.nextInt(plan.whole("pieces"));
                if (!comes(pace, pieces)) {
                    return;
                }
                try {
                    carryOut(transactions, partitions, pieces);
                } catch (KafkaException error) {
                    transactions.endAfter(error);
                }
            }
        }
    }

    private static boolean comes(Pace pace, int pieces) throws InterruptedException {
        for (int piece = 0; piece < pieces; piece++) {
            if (!pace.comes()) {
                return false;
            }
        }
        return true;
    }

    private void carryOut(Transactions transactions, int partitions, int pieces) {
        boolean isAborted = random.nextDouble() < plan.number("aborted");
        long begun = transactions.begin();
        for (int piece = 0; piece < pieces; piece++) {
            transactions.sender().send(draw(partitions, begun));
        }
        if (isAborted) {
            transactions.sender().finish();
            transactions.abort();
        } else {
            transactions.commit();
        }
    }

    private Send draw(int partitions, long begun) {
        long number = numbers.next();
        byte[] key = ("key-" + random.nextInt(plan.whole("keys"))).getBytes(StandardCharsets.US_ASCII);
        byte[] value = Numbers.toValue(number, plan.whole("size"));
        return new Send(number, key, value, random.nextInt(partitions), begun, null);
    }
}
