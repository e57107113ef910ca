import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * One workload over Kafka's Java client, from its first row to its last: {@code Workload NAME=VALUE... -cNAME=VALUE...}
 * as java_program.py says it. What each kind does is said in chaos/workloads, which has the same over librdkafka.
 */
public final class Workload {
    private static final int USAGE = 2;

    private Workload() {
    }

    public static void main(String[] arguments) throws Exception {
        Plan plan = Plan.of(arguments);
        List<String> unknown = Clients.unknown(plan.settings());
        if (!unknown.isEmpty()) {
            System.err.println("error: Kafka's Java client has no setting " + String.join(", ", unknown));
            System.exit(USAGE);
        }
        Stopping stopping = Stopping.bySignals();
        String process = plan.text("process");
        try (History history = new History(Path.of(plan.text("history")), process)) {
            history.tell(Kind.BEGAN, process, new Row().afterDocument(plan.text("told")));
            Random random = new Random((plan.text("seed") + "/" + process).hashCode());
            String why = carryOut(new Life(plan, history, random, stopping));
            history.tell(Kind.ENDED, process, new Row().why(why));
        }
    }

    /** Why it is over before its time; null where it is not. */
    private static String carryOut(Life life) throws InterruptedException {
        try {
            work(life).run();
        } catch (ProducerOver over) {
            return over.getMessage();
        }
        return null;
    }

    private static Work work(Life life) {
        String kind = life.plan().text("kind");
        return switch (kind) {
            case "plain", "idempotent", "compacted" -> new SteadyProducer(life);
            case "transactional" -> new Transactor(life);
            case "mover" -> new Mover(life);
            case "member" -> new CommittingMember(life);
            case "reader" -> new WholeTopicReader(life);
            default -> throw new IllegalArgumentException("there is no workload " + kind);
        };
    }
}
