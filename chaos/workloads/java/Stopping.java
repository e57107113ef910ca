import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** Whether the workload is to end. */
final class Stopping {
    private final CountDownLatch asked = new CountDownLatch(1);

    /** By SIGTERM or SIGINT; a second one ends the process at once. */
    static Stopping bySignals() {
        Stopping stopping = new Stopping();
        for (String name : new String[] {"TERM", "INT"}) {
            Signal.handle(new Signal(name), signal -> {
                Signal.handle(signal, SignalHandler.SIG_DFL);
                stopping.asked.countDown();
            });
        }
        return stopping;
    }

    boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Wait, but no longer than until it is asked. */
    void sleep(double seconds) throws InterruptedException {
        asked.await((long) (seconds * 1e9), TimeUnit.NANOSECONDS);
    }
}
