import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Reads all partitions from their beginnings, in no group, for as long as it may. */
final class WholeTopicReader implements Work {
    private static final double LOOK_AGAIN_S = 0.1;

    private final Life life;

    WholeTopicReader(Life life) {
        this.life = life;
    }

    @Override
    public void run() throws InterruptedException {
        Map<String, Object> settings = life.settings(Clients.READER);
        settings.put("isolation.level", life.plan().text("isolation"));
        try (KafkaConsumer<byte[], byte[]> consumer = Clients.consumer(settings)) {
            Taker taker = new Taker(life, consumer, null);
            List<TopicPartition> assigned = partitions(consumer);
            taker.begin(assigned, null);
            consumer.assign(assigned);
            consumer.seekToBeginning(assigned);
            while (!life.stopping().isAsked()) {
                taker.take();
            }
        }
    }

    /** Asked for until the topic is there, or all is to end. */
    private List<TopicPartition> partitions(KafkaConsumer<?, ?> consumer) throws InterruptedException {
        String topic = life.plan().text("topic");
        while (!life.stopping().isAsked()) {
            List<TopicPartition> found = consumer.partitionsFor(topic).stream()
                .map(each -> new TopicPartition(topic, each.partition()))
                .toList();
            if (!found.isEmpty()) {
                return found;
            }
            life.stopping().sleep(LOOK_AGAIN_S);
        }
        return List.of();
    }
}
