import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Every call of Kafka's Java client, against each of some brokers that stand alone:
 * <code>JavaClients [SECTION...] HOST:PORT...</code>. A line a call; lines that begin with # say whose
 * they are. The brokers are asked at the same time: what takes longest is what the calls wait for.
 */
public final class JavaClients {
    interface Calls {
        void make(String servers, Said said) throws Exception;
    }

    private static final Map<String, Calls> SECTIONS = new LinkedHashMap<>();

    static {
        SECTIONS.put("topics", Topics::new);
        SECTIONS.put("configs", Configs::new);
        SECTIONS.put("users", Users::new);
        SECTIONS.put("machines", Machines::new);
        SECTIONS.put("producer", Producing::new);
        SECTIONS.put("consumer", Consuming::new);
        SECTIONS.put("members", Members::new);
        SECTIONS.put("groups", Groups::new);
        SECTIONS.put("transactions", Transactions::new);
    }

    public static void main(String[] arguments) throws Exception {
        List<String> brokers = new ArrayList<>(List.of(arguments));
        brokers.removeIf(SECTIONS::containsKey);
        SECTIONS.keySet().removeIf(each -> brokers.size() < arguments.length
            && !List.of(arguments).contains(each));
        ExecutorService threads = Executors.newFixedThreadPool(brokers.size());
        try {
            List<Future<String>> asked = new ArrayList<>();
            for (String servers : brokers) {
                asked.add(threads.submit(() -> saidBy(servers)));
            }
            for (Future<String> one : asked) {
                System.out.print("# broker\n" + one.get());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static String saidBy(String servers) throws Exception {
        StringBuilder all = new StringBuilder();
        for (Map.Entry<String, Calls> section : SECTIONS.entrySet()) {
            Said said = new Said();
            section.getValue().make(servers, said);
            all.append("# section ").append(section.getKey()).append("\n").append(said);
        }
        return all.toString();
    }
}
