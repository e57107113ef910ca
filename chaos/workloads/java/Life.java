import java.util.HashMap;
import java.util.Map;
import java.util.Random;

/** What every workload is handed: its plan, its history, what it draws from, and when it is to end. */
record Life(Plan plan, History history, Random random, Stopping stopping) {

    /** Those of a client, the plan's own before the defaults. */
    Map<String, Object> settings(Map<String, Object> defaults) {
        Map<String, Object> settings = new HashMap<>(defaults);
        settings.putAll(plan.settings());
        settings.put("bootstrap.servers", plan.text("bootstrap"));
        settings.put("client.id", plan.text("process"));
        return settings;
    }
}
