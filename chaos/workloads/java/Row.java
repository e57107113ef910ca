import java.util.List;

/** What one row says beside what every row says; what its fields mean is said in chaos/history/rows.py. */
final class Row {
    private static final char FIRST_PRINTED = ' ';
    private static final char LAST_OF_ASCII = '~';

    private final StringBuilder members = new StringBuilder();

    Row epoch(int epoch) {
        return member("epoch", epoch);
    }

    Row offset(long offset) {
        return member("offset", offset);
    }

    Row value(long number) {
        return member("value", number);
    }

    Row values(List<Long> numbers) {
        return member("values", numbers);
    }

    Row causedBy(long sequence) {
        return member("caused_by", sequence);
    }

    Row key(String key) {
        return member("key", quoted(key));
    }

    /** Of a reader in no group, which is null, nothing is said. */
    Row group(String group) {
        return group == null ? this : member("group", quoted(group));
    }

    Row before(Place origin) {
        return member("before", "[" + quoted(origin.partition()) + "," + origin.offset() + "]");
    }

    Row after(String word) {
        return afterDocument(quoted(word));
    }

    Row afterDocument(String json) {
        return member("after", json);
    }

    /** Of what has no reason, which is null, nothing is said. */
    Row why(String why) {
        return why == null ? this : member("why", quoted(why));
    }

    /** The line's members, each with a comma before it. */
    @Override
    public String toString() {
        return members.toString();
    }

    private Row member(String name, Object json) {
        members.append(",\"").append(name).append("\":").append(json);
        return this;
    }

    /** A text in JSON, of ASCII characters alone. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < FIRST_PRINTED || each > LAST_OF_ASCII) {
                quoted.append(String.format("\\u%04x", (int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString();
    }
}
