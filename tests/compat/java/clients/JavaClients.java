import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Every call of Kafka's Java client, against each of some brokers that stand alone:
 * <code>JavaClients HOST:PORT...</code>. A line a call; lines that begin with # say whose they are.
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

    public static void main(String[] brokers) throws Exception {
        for (String servers : brokers) {
            System.out.println("# broker");
            for (Map.Entry<String, Calls> section : SECTIONS.entrySet()) {
                System.out.println("# section " + section.getKey());
                section.getValue().make(servers, new Said());
            }
        }
    }
}
