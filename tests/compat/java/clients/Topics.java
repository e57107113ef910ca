import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreatePartitionsOptions;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DeleteRecordsOptions;
import org.apache.kafka.clients.admin.DescribeTopicsOptions;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** Topics and their partitions: made, described, grown, cut and removed. */
final class Topics {
    private static final TopicPartition CUT = new TopicPartition("cut", 0);

    private final Admin admin;
    private final Said said;

    Topics(String servers, Said said) throws Exception {
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            create();
            describe();
            grow();
            cut(servers);
            elect();
            remove();
        }
    }

    private void create() {
        for (NewTopic topic : List.of(
            new NewTopic("plain", 2, (short) 1),
            new NewTopic("by-default", Optional.empty(), Optional.empty()),
            new NewTopic("placed", Map.of(0, List.of(1), 1, List.of(1))),
            new NewTopic("placed-twice", Map.of(0, List.of(1, 1))),
            new NewTopic("set", 1, (short) 1).configs(Map.of("retention.ms", "3600000")),
            new NewTopic("set-badly", 1, (short) 1).configs(Map.of("retention.ms", "long")),
            new NewTopic("set-unknown", 1, (short) 1).configs(Map.of("retention", "1")),
            new NewTopic("plain", 1, (short) 1),
            new NewTopic("none", 0, (short) 1),
            new NewTopic("many", 1, (short) 2),
            new NewTopic("bad name", 1, (short) 1),
            new NewTopic("pl.ain", 1, (short) 1),
            new NewTopic("pl_ain", 1, (short) 1))) {
            created("create " + topic.name(), topic, false);
        }
        created("create only to see", new NewTopic("seen", 3, (short) 1), true);
        said.of("list", () -> admin.listTopics().names());
        said.of("list internal ones", () ->
            admin.listTopics(new ListTopicsOptions().listInternal(true)).names());
    }

    private void created(String call, NewTopic topic, boolean isOnlyToSee) {
        said.of(call, () -> {
            var result = admin.createTopics(
                List.of(topic), new CreateTopicsOptions().validateOnly(isOnlyToSee));
            result.all().get();
            Map<String, String> settings = result.config(topic.name()).get().entries().stream()
                .collect(Collectors.toMap(each -> each.name(), each -> each.value()
                    + " " + each.source() + " " + each.isSensitive() + each.isReadOnly()));
            return result.numPartitions(topic.name()).get() + " partitions, "
                + result.replicationFactor(topic.name()).get() + " replicas, "
                + Said.text(settings);
        });
    }

    private void describe() throws Exception {
        Uuid plain = admin.describeTopics(List.of("plain")).allTopicNames().get().get("plain")
            .topicId();
        said.of("describe", () -> described(admin.describeTopics(List.of("plain", "placed"))
            .allTopicNames().get()));
        said.of("describe by id", () -> described(admin
            .describeTopics(TopicCollection.ofTopicIds(Set.of(plain))).allTopicIds().get()));
        said.of("describe with what is allowed", () -> Said.text(admin
            .describeTopics(List.of("plain"),
                new DescribeTopicsOptions().includeAuthorizedOperations(true))
            .allTopicNames().get().get("plain").authorizedOperations()));
        said.of("describe an unknown one", () ->
            admin.describeTopics(List.of("unknown")).allTopicNames());
        said.of("describe an unknown id", () -> admin
            .describeTopics(TopicCollection.ofTopicIds(Set.of(new Uuid(4, 5)))).allTopicIds());
        said.of("describe a bad name", () ->
            admin.describeTopics(List.of("bad name")).allTopicNames());
    }

    private static String described(Map<?, TopicDescription> found) throws Exception {
        return Said.text(found.values().stream()
            .map(each -> each.name() + " " + each.isInternal() + " " + each.partitions())
            .collect(Collectors.toSet()));
    }

    private void grow() {
        grown("grow", "plain", NewPartitions.increaseTo(4), false);
        grown("grow only to see", "plain", NewPartitions.increaseTo(6), true);
        grown("grow to less", "plain", NewPartitions.increaseTo(1), false);
        grown("grow to the same", "plain", NewPartitions.increaseTo(4), false);
        grown("grow what is unknown", "unknown", NewPartitions.increaseTo(4), false);
        grown("grow by place", "placed", NewPartitions.increaseTo(3, List.of(List.of(1))), false);
        grown("grow by odd place", "placed",
            NewPartitions.increaseTo(4, List.of(List.of(9))), false);
        said.of("describe what has grown", () ->
            described(admin.describeTopics(List.of("plain", "placed")).allTopicNames().get()));
    }

    private void grown(String call, String topic, NewPartitions to, boolean isOnlyToSee) {
        said.of(call, () -> admin.createPartitions(
            Map.of(topic, to), new CreatePartitionsOptions().validateOnly(isOnlyToSee)).all());
    }

    private void cut(String servers) throws Exception {
        admin.createTopics(List.of(new NewTopic("cut", 1, (short) 1))).all().get();
        Producing.some(servers, "cut", 10);
        deleted("delete records", 4);
        deleted("delete more than there are", 40);
        said.inTime("delete records of the unknown", () -> admin.deleteRecords(
            Map.of(new TopicPartition("unknown", 0), RecordsToDelete.beforeOffset(1)),
            new DeleteRecordsOptions().timeoutMs(1500)).all());
        for (OffsetSpec spec : List.of(OffsetSpec.earliest(), OffsetSpec.latest(),
            OffsetSpec.maxTimestamp(), OffsetSpec.forTimestamp(1005),
            OffsetSpec.forTimestamp(Long.MAX_VALUE / 2), OffsetSpec.earliestLocal(),
            OffsetSpec.latestTiered())) {
            listed("offset " + spec.getClass().getSimpleName(), spec);
        }
        said.inTime("offset of the unknown", () -> admin.listOffsets(
            Map.of(new TopicPartition("cut", 5), OffsetSpec.latest()),
            new ListOffsetsOptions().timeoutMs(1500)).all());
        deleted("delete all records", -1);
        listed("offset of the empty", OffsetSpec.maxTimestamp());
    }

    private void deleted(String call, long before) {
        said.of(call, () -> admin.deleteRecords(
            Map.of(CUT, RecordsToDelete.beforeOffset(before)))
            .lowWatermarks().get(CUT).get().lowWatermark());
    }

    private void listed(String call, OffsetSpec spec) {
        said.of(call, () -> {
            ListOffsetsResultInfo found =
                admin.listOffsets(Map.of(CUT, spec)).all().get().get(CUT);
            return found.offset() + " at " + found.timestamp() + " epoch " + found.leaderEpoch();
        });
    }

    private void elect() {
        for (ElectionType type : ElectionType.values()) {
            for (TopicPartition each : List.of(CUT, new TopicPartition("unknown", 0))) {
                said.of("elect " + type + " " + each, () ->
                    admin.electLeaders(type, Set.of(each)).partitions());
            }
        }
        said.of("elect all", () -> admin.electLeaders(ElectionType.PREFERRED, null).partitions());
    }

    private void remove() throws Exception {
        Uuid placed = admin.describeTopics(List.of("placed")).allTopicNames().get().get("placed")
            .topicId();
        said.of("remove", () -> admin.deleteTopics(List.of("plain")).all());
        said.of("remove again", () -> admin.deleteTopics(List.of("plain")).all());
        said.of("remove by id", () ->
            admin.deleteTopics(TopicCollection.ofTopicIds(Set.of(placed))).all());
        said.of("remove an unknown id", () ->
            admin.deleteTopics(TopicCollection.ofTopicIds(Set.of(new Uuid(4, 5)))).all());
        said.of("remove a bad name", () -> admin.deleteTopics(List.of("bad name")).all());
    }
}
