import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.AlterConfigOp.OpType;
import org.apache.kafka.clients.admin.AlterConfigsOptions;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.ConfigResource.Type;

/** Configurations, described and altered in both ways. */
final class Configs {
    private static final ConfigResource TOPIC = new ConfigResource(Type.TOPIC, "configured");
    private static final ConfigResource BROKER = new ConfigResource(Type.BROKER, "1");
    private static final ConfigResource ALL = new ConfigResource(Type.BROKER, "");

    private static final String OF_THE_MACHINE =
        "zookeeper.connect|(advertised.)?listeners|log.dirs?";

    private final Admin admin;
    private final Said said;

    Configs(String servers, Said said) throws Exception {
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            admin.createTopics(List.of(new NewTopic("configured", 1, (short) 1))).all().get();
            alterTopic();
            alterBrokers();
            describe();
            remove();
            replace();
        }
    }

    private void alterTopic() {
        altered("set", TOPIC, OpType.SET, "retention.ms", "1000");
        altered("set what is no number", TOPIC, OpType.SET, "retention.ms", "soon");
        altered("set what is unknown", TOPIC, OpType.SET, "no.such.key", "1");
        altered("append", TOPIC, OpType.APPEND, "cleanup.policy", "compact");
        altered("subtract", TOPIC, OpType.SUBTRACT, "cleanup.policy", "delete");
        altered("append to what is no list", TOPIC, OpType.APPEND, "retention.ms", "1");
        altered("delete", TOPIC, OpType.DELETE, "retention.ms", "");
        altered("set on an unknown topic", new ConfigResource(Type.TOPIC, "unknown"),
            OpType.SET, "retention.ms", "1");
        said.of("set only to see", () -> admin.incrementalAlterConfigs(
            Map.of(TOPIC, List.of(set("retention.ms", "5"))),
            new AlterConfigsOptions().validateOnly(true)).all());
        said.of("the same key twice", () -> admin.incrementalAlterConfigs(
            Map.of(TOPIC, List.of(set("retention.ms", "5"), set("retention.ms", "6")))).all());
    }

    private void alterBrokers() {
        altered("set of a broker", BROKER, OpType.SET, "log.cleaner.threads", "2");
        altered("set of all brokers", ALL, OpType.SET, "log.retention.ms", "7200000");
        altered("set what is read-only", BROKER, OpType.SET, "broker.id", "2");
        altered("set of no broker", new ConfigResource(Type.BROKER, "seven"),
            OpType.SET, "log.cleaner.threads", "2");
        altered("set too much", BROKER, OpType.SET, "log.cleaner.threads", "0");
    }

    private void describe() {
        Said.until("settings that brokers have heard of", () -> valueOf(TOPIC, "retention.ms")
            .equals("7200000") && valueOf(BROKER, "log.cleaner.threads").equals("2"));
        for (ConfigResource each : List.of(TOPIC, BROKER, ALL,
            new ConfigResource(Type.TOPIC, "unknown"))) {
            described("describe " + each.type() + " " + each.name(), each);
        }
        said.of("describe resources of client metrics", () ->
            admin.listClientMetricsResources().all());
    }

    private void remove() {
        said.of("delete of a broker", () -> deleted(BROKER, "log.cleaner.threads"));
        said.of("delete of all brokers", () -> deleted(ALL, "log.retention.ms"));
        Said.until("settings that brokers have forgotten", () ->
            valueOf(TOPIC, "retention.ms").equals("-1")
            && valueOf(BROKER, "log.cleaner.threads").equals("1"));
    }

    private String valueOf(ConfigResource resource, String key) {
        try {
            return admin.describeConfigs(List.of(resource)).all().get().get(resource).get(key)
                .value();
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private Object deleted(ConfigResource resource, String key) {
        var op = new AlterConfigOp(new ConfigEntry(key, null), OpType.DELETE);
        return admin.incrementalAlterConfigs(Map.of(resource, List.of(op))).all();
    }

    /** A line a key, in their order; what differs by machine is left out, and so are the words. */
    private void described(String call, ConfigResource resource) {
        var asked = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        said.of(call, () -> {
            List<ConfigEntry> found = new ArrayList<>(
                admin.describeConfigs(List.of(resource), asked).all().get().get(resource).entries());
            found.sort(Comparator.comparing(ConfigEntry::name));
            for (ConfigEntry each : found) {
                if (!each.name().matches(OF_THE_MACHINE)) {
                    said.of(call + " " + each.name(), () -> each.value() + " " + each.source() + " "
                        + each.type() + " " + each.isReadOnly() + " " + each.isSensitive() + " "
                        + each.synonyms() + " " + each.documentation().isEmpty());
                }
            }
            return found.size();
        });
    }

    @SuppressWarnings("deprecation")
    private void replace() {
        for (ConfigEntry each : List.of(new ConfigEntry("retention.bytes", "77"),
            new ConfigEntry("retention.bytes", "much"))) {
            said.of("replace by " + each.value(), () ->
                admin.alterConfigs(Map.of(TOPIC, new Config(List.of(each)))).all());
        }
        said.of("what stands", () -> {
            Collection<ConfigEntry> entries = admin.describeConfigs(List.of(TOPIC)).all().get()
                .get(TOPIC).entries();
            List<String> set = new ArrayList<>();
            entries.stream().filter(each -> !each.isDefault()).forEach(each ->
                set.add(each.name() + "=" + each.value() + " " + each.source()));
            set.sort(null);
            return set;
        });
    }

    private void altered(
        String call, ConfigResource resource, OpType type, String key, String value) {
        var op = new AlterConfigOp(new ConfigEntry(key, value), type);
        said.of(call, () -> admin.incrementalAlterConfigs(Map.of(resource, List.of(op))).all());
    }

    private static AlterConfigOp set(String key, String value) {
        return new AlterConfigOp(new ConfigEntry(key, value), OpType.SET);
    }
}
