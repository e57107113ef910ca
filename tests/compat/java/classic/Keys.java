import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import kafka.javaapi.producer.Producer;
import kafka.producer.KeyedMessage;
import kafka.producer.ProducerConfig;

/** A producer of 0.8: each line of its standard input is the key of a message that says the same. */
public class Keys {
    public static void main(String[] args) throws Exception {
        Properties keys = new Properties();
        keys.put("metadata.broker.list", args[0]);
        keys.put("serializer.class", "kafka.serializer.StringEncoder");
        keys.put("request.required.acks", "-1");
        Producer<String, String> producer = new Producer<>(new ProducerConfig(keys));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            producer.send(new KeyedMessage<>(args[1], line, line));
        }
        producer.close();
    }
}
