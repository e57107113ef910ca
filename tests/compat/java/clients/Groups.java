import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.ConsumerGroupListing;
import org.apache.kafka.clients.admin.DescribeConsumerGroupsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.ListConsumerGroupsOptions;
import org.apache.kafka.clients.admin.MemberToRemove;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.ConsumerGroupState;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;

/** Groups as an administrator sees and changes them. */
final class Groups {
    private static final TopicPartition FIRST = new TopicPartition("grouped", 0);
    private static final TopicPartition SECOND = new TopicPartition("grouped", 1);
    private static final TopicPartition UNKNOWN = new TopicPartition("unknown", 0);

    private final Admin admin;
    private final Said said;

    Groups(String servers, Said said) throws Exception {
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            admin.createTopics(List.of(new NewTopic("grouped", 2, (short) 1))).all().get();
            try (var member = Consuming.consumer(servers, Map.of("group.id", "busy",
                "client.id", "c", "group.instance.id", "i", "heartbeat.interval.ms", 300))) {
                member.subscribe(List.of("grouped"));
                Said.until("member", () -> {
                    member.poll(Consuming.SHORT);
                    return member.assignment().size() == 2;
                });
                busy(member);
            }
            listed();
            offsets();
            removed();
        }
    }

    private void busy(KafkaConsumer<String, String> member) {
        described("busy");
        said.of("offsets of the busy altered", () -> admin.alterConsumerGroupOffsets("busy",
            Map.of(FIRST, new OffsetAndMetadata(2))).all());
        member.commitSync(Map.of(FIRST, new OffsetAndMetadata(0)));
        said.of("offsets of the busy deleted", () ->
            admin.deleteConsumerGroupOffsets("busy", Set.of(FIRST)).all());
        said.of("the busy deleted", () -> admin.deleteConsumerGroups(List.of("busy")).all());
        said.of("an unknown member removed", () -> admin.removeMembersFromConsumerGroup("busy",
            new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("nobody"))))
            .memberResult(new MemberToRemove("nobody")));
        said.of("the member removed", () -> admin.removeMembersFromConsumerGroup("busy",
            new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("i")))).all());
        described("busy");
        said.of("all members of the empty removed", () -> admin.removeMembersFromConsumerGroup(
            "busy", new RemoveMembersFromConsumerGroupOptions()).all());
    }

    private void described(String group) {
        said.of("describe " + group, () -> {
            ConsumerGroupDescription found = admin.describeConsumerGroups(List.of(group),
                new DescribeConsumerGroupsOptions().includeAuthorizedOperations(true))
                .all().get().get(group);
            return found.state() + " " + found.type() + " " + found.isSimpleConsumerGroup() + " "
                + found.partitionAssignor() + " " + found.coordinator() + " "
                + Said.text(found.authorizedOperations()) + found.members().stream()
                    .map(each -> each.clientId() + each.groupInstanceId() + each.host()
                        + each.consumerId().length() + each.assignment())
                    .collect(Collectors.toList());
        });
    }

    private void listed() {
        for (ListConsumerGroupsOptions options : List.of(
            new ListConsumerGroupsOptions(),
            new ListConsumerGroupsOptions().inStates(Set.of(ConsumerGroupState.STABLE)),
            new ListConsumerGroupsOptions().inStates(Set.of(ConsumerGroupState.EMPTY)),
            new ListConsumerGroupsOptions().withTypes(Set.of(GroupType.CLASSIC)),
            new ListConsumerGroupsOptions().withTypes(Set.of(GroupType.CONSUMER)))) {
            said.of("list " + options.states() + options.types(), () -> {
                Collection<ConsumerGroupListing> found =
                    admin.listConsumerGroups(options).all().get();
                return Said.text(found.stream().map(String::valueOf).collect(Collectors.toSet()));
            });
        }
        described("never-seen");
    }

    private void offsets() {
        var offsets = Map.of(FIRST, new OffsetAndMetadata(4, "by hand"),
            SECOND, new OffsetAndMetadata(0));
        said.of("offsets altered", () -> admin.alterConsumerGroupOffsets("made", offsets).all());
        said.of("offsets of the unknown altered", () -> admin.alterConsumerGroupOffsets("made",
            Map.of(UNKNOWN, new OffsetAndMetadata(1))).all());
        said.of("offsets below nothing", () -> admin.alterConsumerGroupOffsets("made",
            Map.of(FIRST, new OffsetAndMetadata(1L << 40))).all());
        said.of("offsets", () ->
            admin.listConsumerGroupOffsets("made").partitionsToOffsetAndMetadata());
        said.of("stable offsets of some", () -> admin.listConsumerGroupOffsets(
            Map.of("made", new ListConsumerGroupOffsetsSpec().topicPartitions(
                    List.of(SECOND, UNKNOWN)),
                "never-seen", new ListConsumerGroupOffsetsSpec()),
            new ListConsumerGroupOffsetsOptions().requireStable(true)).all());
        said.of("offsets deleted", () ->
            admin.deleteConsumerGroupOffsets("made", Set.of(FIRST)).all());
        said.of("offsets of the unknown deleted", () ->
            admin.deleteConsumerGroupOffsets("made", Set.of(UNKNOWN)).all());
        said.of("offsets of nobody deleted", () ->
            admin.deleteConsumerGroupOffsets("never-seen", Set.of(FIRST)).all());
        said.of("offsets that are left", () ->
            admin.listConsumerGroupOffsets("made").partitionsToOffsetAndMetadata());
        described("made");
    }

    private void removed() {
        for (String group : List.of("made", "made", "never-seen", "busy")) {
            said.of("delete " + group, () -> admin.deleteConsumerGroups(List.of(group)).all());
        }
        described("made");
    }
}
