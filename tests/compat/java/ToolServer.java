import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command-line tools, one after the other in one JVM. A line of JSON on standard input is a
 * command: {"main": class, "arguments": [...], "typed": text}; one on standard output is what became
 * of it: {"status": number, "out": text, "err": text}.
 */
public class ToolServer {
    /** Takes a tool out of where it ended itself. Some catch it and complain: nobody hears that. */
    static class Ended extends RuntimeException { }

    /** Scala's Console keeps the stream that it found first, so that stays and its target changes. */
    static class Switched extends OutputStream {
        private ByteArrayOutputStream target = new ByteArrayOutputStream();
        @Override public synchronized void write(int one) {
            if (status == null) target.write(one);
        }
        @Override public synchronized void write(byte[] data, int start, int count) {
            if (status == null) target.write(data, start, count);
        }
        synchronized String take() {
            String taken = target.toString(StandardCharsets.UTF_8);
            target = new ByteArrayOutputStream();
            return taken;
        }
    }

    /** Loads the tools anew for each run: some count in static fields. The rest is shared. */
    static class Tools extends URLClassLoader {
        Tools(URL[] jars) { super(jars, ToolServer.class.getClassLoader()); }
        @Override protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("org.apache.kafka.tools.") && !name.startsWith("kafka.tools."))
                return super.loadClass(name, resolve);
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded != null ? loaded : findClass(name);
            }
        }
    }

    static final List<Runnable> HOOKS = new ArrayList<>();
    static volatile Integer status;  // of the tool that runs, once it has ended itself

    static void end(int ended) {
        if (status == null) status = ended;
        throw new Ended();
    }

    public static void main(String[] args) throws Exception {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = System.out;
        Switched out = new Switched(), err = new Switched();
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((ended, message) -> end(ended));
        Exit.setHaltProcedure((ended, message) -> end(ended));
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        ObjectMapper json = new ObjectMapper();
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            ObjectNode answer = json.createObjectNode();
            answer.put("status", run(json.readTree(line)));
            System.out.flush();
            System.err.flush();
            answer.put("out", out.take());
            answer.put("err", err.take());
            answers.println(json.writeValueAsString(answer));
        }
    }

    static int run(JsonNode command) throws Exception {
        List<String> arguments = new ArrayList<>();
        command.get("arguments").forEach(each -> arguments.add(each.asText()));
        System.setIn(new ByteArrayInputStream(command.get("typed").asText().getBytes(StandardCharsets.UTF_8)));
        status = null;
        Tools tools = new Tools(jars());
        Thread.currentThread().setContextClassLoader(tools);
        int failed = guarded(() -> tools.loadClass(command.get("main").asText())
            .getMethod("main", String[].class)
            .invoke(null, (Object) arguments.toArray(new String[0])));
        int told = status == null ? failed : status;
        status = null;
        for (Runnable hook : HOOKS)
            guarded(() -> { hook.run(); return null; });
        HOOKS.clear();
        return told;
    }

    static URL[] jars() throws Exception {
        List<URL> found = new ArrayList<>();
        for (String path : System.getProperty("java.class.path").split(":"))
            found.add(new File(path).toURI().toURL());
        return found.toArray(new URL[0]);
    }

    interface Action { Object run() throws Exception; }

    static int guarded(Action action) {
        try {
            action.run();
            return 0;
        } catch (Throwable thrown) {
            Throwable cause = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
            if (!(cause instanceof Ended))
                cause.printStackTrace();
            return 1;
        }
    }
}
