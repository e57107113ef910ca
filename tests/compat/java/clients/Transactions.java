import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListTransactionsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TransactionState;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;

/** Transactional producers, readers of what they committed, and who looks after them. */
final class Transactions {
    private static final TopicPartition FIRST = new TopicPartition("moved", 0);

    private final String servers;
    private final Said said;
    private final Admin admin;

    Transactions(String servers, Said said) throws Exception {
        this.servers = servers;
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            admin.createTopics(List.of(new NewTopic("moved", 2, (short) 1))).all().get();
            lives();
            offsets();
            fenced();
            watched();
            refused();
        }
    }

    private KafkaProducer<String, String> producer(String id, Map<String, Object> settings) {
        Map<String, Object> all = new HashMap<>(Map.of("transactional.id", id));
        all.putAll(settings);
        return Producing.producer(servers, all);
    }

    private static void send(KafkaProducer<String, String> producer, String value) {
        producer.send(new ProducerRecord<>("moved", value.length() % 2, 7L, "k", value));
    }

    private void lives() {
        try (var producer = producer("lives", Map.of())) {
            said.of("begin before anything", () -> done(producer::beginTransaction));
            producer.initTransactions();
            producer.beginTransaction();
            send(producer, "kept");
            send(producer, "kept too");
            send(producer, "kept as well");
            said.of("commit", () -> done(producer::commitTransaction));
            producer.beginTransaction();
            send(producer, "taken back");
            producer.flush();
            said.of("what anybody finds amid one", () -> Consuming.all(servers, "moved", false));
            said.of("what stands amid one", () -> Consuming.all(servers, "moved", true));
            said.of("abort", () -> done(producer::abortTransaction));
            producer.beginTransaction();
            said.of("commit of nothing", () -> done(producer::commitTransaction));
            producer.beginTransaction();
            send(producer, "last");
            producer.commitTransaction();
        }
        complete("lives");
        said.of("what anybody finds", () -> Consuming.all(servers, "moved", false));
        said.of("what was committed", () -> Consuming.all(servers, "moved", true));
    }

    /** A commit is answered before its markers are written. */
    private void complete(String id) {
        Said.until("end of " + id, () -> {
            try {
                return admin.describeTransactions(List.of(id)).all().get().get(id).state()
                    == TransactionState.COMPLETE_COMMIT;
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        });
    }

    private static String done(Runnable call) {
        call.run();
        return "done";
    }

    private void offsets() {
        var places = Map.of(FIRST, new OffsetAndMetadata(2, "in one"));
        try (var producer = producer("offsets", Map.of());
            var reader = Consuming.consumer(servers, Map.of("group.id", "taken"))) {
            producer.initTransactions();
            producer.beginTransaction();
            said.of("offsets into it", () -> done(() ->
                producer.sendOffsetsToTransaction(places, new ConsumerGroupMetadata("taken"))));
            said.of("offsets before its end", () ->
                admin.listConsumerGroupOffsets("taken").partitionsToOffsetAndMetadata());
            producer.commitTransaction();
            said.of("offsets after it", () -> reader.committed(Set.of(FIRST)));
            producer.beginTransaction();
            said.of("offsets of a member that is none", () -> done(() ->
                producer.sendOffsetsToTransaction(places, new ConsumerGroupMetadata(
                    "taken", 5, "nobody", java.util.Optional.empty()))));
            producer.abortTransaction();
        }
    }

    private void fenced() throws Exception {
        try (var first = producer("same", Map.of()); var second = producer("same", Map.of())) {
            first.initTransactions();
            first.beginTransaction();
            send(first, "of a zombie");
            first.flush();
            second.initTransactions();
            said.of("commit of the fenced", () -> done(first::commitTransaction));
            second.beginTransaction();
            send(second, "of the successor");
            said.of("commit of the successor", () -> done(second::commitTransaction));
            admin.fenceProducers(List.of("same")).all().get();
            second.beginTransaction();
            said.of("send of whom an administrator fenced", () ->
                second.send(new ProducerRecord<>("moved", 0, 7L, "k", "v")).get());
        }
        said.of("fence whom nobody knows", () ->
            admin.fenceProducers(List.of("unheard")).producerId("unheard").get() >= 0);
    }

    private void watched() throws Exception {
        try (var producer = producer("watched", Map.of("transaction.timeout.ms", 600_000))) {
            producer.initTransactions();
            producer.beginTransaction();
            send(producer, "slow");
            producer.flush();
            said.of("describe", () -> {
                var found = admin.describeTransactions(List.of("watched")).all().get()
                    .get("watched");
                return found.coordinatorId() + " " + found.state() + " " + found.producerEpoch()
                    + " " + found.transactionTimeoutMs() + " " + found.topicPartitions() + " "
                    + found.transactionStartTimeMs().isPresent();
            });
            said.of("list those under way", () -> admin.listTransactions(
                new ListTransactionsOptions().filterStates(Set.of(TransactionState.ONGOING)))
                .all().get().stream().map(each -> each.transactionalId() + each.state())
                .collect(Collectors.toSet()));
            said.of("list those older than an hour", () -> admin.listTransactions(
                new ListTransactionsOptions().filterOnDuration(3_600_000)).all());
            said.of("describe its writers", () -> admin.describeProducers(List.of(FIRST)).all()
                .get().get(FIRST).activeProducers().stream().map(each -> each.producerEpoch() + " "
                    + each.lastSequence() + " " + each.coordinatorEpoch() + " "
                    + each.currentTransactionStartOffset()).sorted().collect(Collectors.toList()));
            var writer = admin.describeProducers(List.of(FIRST)).all().get().get(FIRST)
                .activeProducers().stream()
                .filter(each -> each.currentTransactionStartOffset().isPresent()).findFirst();
            writer.ifPresent(each -> said.of("abort by hand", () ->
                admin.abortTransaction(new AbortTransactionSpec(FIRST, each.producerId(),
                    (short) each.producerEpoch(), each.coordinatorEpoch().orElse(0))).all()));
            said.of("end of what was aborted by hand", () -> done(producer::commitTransaction));
        }
        complete("watched");
        said.of("describe an unknown one", () ->
            admin.describeTransactions(List.of("unheard-of")).all());
        said.of("list all", () -> admin.listTransactions().all().get().stream()
            .map(each -> each.transactionalId() + each.state()).collect(Collectors.toSet()));
        said.of("abort what nobody began", () -> admin.abortTransaction(
            new AbortTransactionSpec(FIRST, 4242, (short) 0, 0)).all());
    }

    private void refused() {
        said.of("a patience too long", () -> {
            try (var producer = producer("patient", Map.of("transaction.timeout.ms", 99_999_999))) {
                producer.initTransactions();
                return "let in";
            }
        });
        said.of("to an unknown topic", () -> {
            try (var producer = producer("lost", Map.of("max.block.ms", 1000))) {
                Said.until("producer id", () -> Said.endsInTime(producer::initTransactions));
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("unknown", "v"));
                producer.commitTransaction();
                return "committed";
            }
        });
    }
}
