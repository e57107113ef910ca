import java.util.HashMap;
import java.util.Map;

/** The options of plan.py, each of which is said, and settings of the client: -cNAME=VALUE. */
final class Plan {
    private static final String SETTING = "-c";

    private final Map<String, String> options = new HashMap<>();
    private final Map<String, String> settings = new HashMap<>();

    static Plan of(String[] arguments) {
        Plan plan = new Plan();
        for (String argument : arguments) {
            boolean isSetting = argument.startsWith(SETTING);
            String said = isSetting ? argument.substring(SETTING.length()) : argument;
            int end = said.indexOf('=');
            (isSetting ? plan.settings : plan.options).put(said.substring(0, end), said.substring(end + 1));
        }
        return plan;
    }

    Map<String, String> settings() {
        return settings;
    }

    String text(String name) {
        String value = options.get(name);
        if (value == null) {
            throw new IllegalArgumentException("nothing says " + name);
        }
        return value;
    }

    int whole(String name) {
        return Integer.parseInt(text(name));
    }

    double number(String name) {
        return Double.parseDouble(text(name));
    }

    boolean flag(String name) {
        return Boolean.parseBoolean(text(name));
    }
}
