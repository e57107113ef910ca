import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.errors.TimeoutException;

/** Keeps what calls say, a line each: a value, or an error's class and message. */
final class Said {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final StringBuilder lines = new StringBuilder();

    @Override
    public String toString() {
        return lines.toString();
    }

    void of(String call, Callable<?> made) {
        String outcome;
        try {
            outcome = text(made.call());
        } catch (Exception error) {
            outcome = nameOf(error) + ": " + causeOf(error).getMessage();
        }
        lines.append(call).append(" | ").append(outcome.replace("\n", " ")).append("\n");
    }

    /** Of a call that ends when its time is over: its message says when. */
    void inTime(String call, Callable<?> made) {
        of(call, () -> {
            try {
                return text(made.call());
            } catch (Exception error) {
                return nameOf(error);
            }
        });
    }

    private static Throwable causeOf(Exception error) {
        return error instanceof ExecutionException ? error.getCause() : error;
    }

    private static String nameOf(Exception error) {
        return causeOf(error).getClass().getSimpleName();
    }

    /** What has no order is put into one. */
    static String text(Object value) throws Exception {
        if (value instanceof KafkaFuture) {
            return text(((KafkaFuture<?>) value).get());
        }
        if (value instanceof Map) {
            Map<String, String> sorted = new TreeMap<>();
            for (Map.Entry<?, ?> each : ((Map<?, ?>) value).entrySet()) {
                sorted.put(text(each.getKey()), text(each.getValue()));
            }
            return sorted.toString();
        }
        if (value instanceof Collection && !(value instanceof List)) {
            return ((Collection<?>) value).stream().map(String::valueOf).sorted()
                .collect(Collectors.toList()).toString();
        }
        return String.valueOf(value);
    }

    /** Whether a call was done before its time was over: else it may be made again. */
    static boolean endsInTime(Runnable call) {
        try {
            call.run();
            return true;
        } catch (TimeoutException error) {
            return false;
        }
    }

    static void until(String what, BooleanSupplier isSo) {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (!isSo.getAsBoolean()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("no " + what);
            }
        }
    }
}
