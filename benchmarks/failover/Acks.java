import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Acks INTERVAL_MS TOPIC key=value...: sends to the partition that standard input names, a line
 * each ("-" for none), and prints "sent acked" in nanoseconds of the monotonic clock for every ack.
 */
public class Acks {
    private static volatile int partition = -1;

    public static void main(String[] arguments) throws Exception {
        long intervalMs = Long.parseLong(arguments[0]);
        Properties properties = new Properties();
        for (int index = 2; index < arguments.length; index++) {
            String[] pair = arguments[index].split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        String bytes = "org.apache.kafka.common.serialization.ByteArraySerializer";
        properties.put("key.serializer", bytes);
        properties.put("value.serializer", bytes);
        Thread orders = new Thread(Acks::obey);
        orders.setDaemon(true);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
            producer.partitionsFor(arguments[1]);
            System.out.println("ready");
            orders.start();
            while (orders.isAlive()) {
                if (partition >= 0) {
                    send(producer, arguments[1]);
                }
                Thread.sleep(intervalMs);
            }
        }
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, String topic) {
        long sent = System.nanoTime();
        producer.send(new ProducerRecord<>(topic, partition, null, new byte[100]), (at, error) -> {
            if (error == null) {
                System.out.println(sent + " " + System.nanoTime());
            }
        });
    }

    private static void obey() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                partition = line.equals("-") ? -1 : Integer.parseInt(line);
            }
        } catch (java.io.IOException error) {
            error.printStackTrace();
        }
    }
}
