import java.io.FileInputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import kafka.consumer.Blacklist;
import kafka.consumer.Consumer;
import kafka.consumer.ConsumerConfig;
import kafka.consumer.KafkaStream;
import kafka.consumer.Whitelist;
import kafka.javaapi.consumer.ConsumerConnector;
import kafka.message.MessageAndMetadata;

/** A consumer of 0.8: prints what its streams hand out, until its standard input ends. */
public class Streams {
    public static void main(String[] args) throws Exception {
        Properties keys = new Properties();
        try (FileInputStream file = new FileInputStream(args[0])) {
            keys.load(file);
        }
        ConsumerConnector connector = Consumer.createJavaConsumerConnector(new ConsumerConfig(keys));
        List<Thread> threads = new ArrayList<>();
        for (KafkaStream<byte[], byte[]> stream : streams(connector, args[1], args[2], Integer.parseInt(args[3]))) {
            Thread thread = new Thread(() -> print(stream));
            thread.start();
            threads.add(thread);
        }
        System.err.println("begun");
        while (System.in.read() >= 0) {
        }
        connector.shutdown();
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(0);
    }

    private static List<KafkaStream<byte[], byte[]>> streams(
            ConsumerConnector connector, String kind, String topics, int count) {
        switch (kind) {
            case "white_list":
                return connector.createMessageStreamsByFilter(new Whitelist(topics), count);
            case "black_list":
                return connector.createMessageStreamsByFilter(new Blacklist(topics), count);
            default:
                return connector.createMessageStreams(Collections.singletonMap(topics, count)).get(topics);
        }
    }

    private static void print(KafkaStream<byte[], byte[]> stream) {
        for (MessageAndMetadata<byte[], byte[]> each : stream) {
            String line = each.topic() + " " + each.partition() + " " + each.offset() + " " + new String(each.message());
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        }
    }
}
