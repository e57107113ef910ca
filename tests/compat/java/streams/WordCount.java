import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Produced;

/**
 * Kafka Streams' own example, exactly once: <code>WordCount SERVERS SOURCE TARGET FOLDER</code>.
 * Each occurrence of a word gives a record of its own, the word and its count so far. It counts
 * until its standard input ends.
 */
public final class WordCount {
    public static void main(String[] arguments) throws Exception {
        String servers = arguments[0];
        String source = arguments[1];
        String target = arguments[2];
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream(source)
            .flatMapValues(line -> List.of(line.toLowerCase(Locale.ROOT).split("\\W+")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count()
            .mapValues(String::valueOf)
            .toStream()
            .to(target, Produced.with(Serdes.String(), Serdes.String()));
        KafkaStreams streams =
            new KafkaStreams(builder.build(), settings(servers, Path.of(arguments[3])));
        streams.start();
        System.in.readAllBytes();
        streams.close();
    }

    private static Properties settings(String servers, Path folder) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, "word-count");
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
        settings.put(StreamsConfig.REPLICATION_FACTOR_CONFIG, 3);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder.toString());
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);
        settings.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        return settings;
    }
}
