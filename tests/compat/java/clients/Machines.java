import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeLogDirsOptions;
import org.apache.kafka.clients.admin.FeatureUpdate;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RaftVoterEndpoint;
import org.apache.kafka.clients.admin.UpdateFeaturesOptions;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.Uuid;

/** The cluster and its brokers, their directories and features, and what only KRaft has. */
final class Machines {
    private final Admin admin;
    private final Said said;

    Machines(String servers, Said said) throws Exception {
        this.said = said;
        try (Admin made = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin = made;
            describe();
            directories(servers);
            features();
            onlyOfKRaft();
        }
    }

    private void describe() {
        said.of("describe the cluster", () -> {
            var found = admin.describeCluster(
                new DescribeClusterOptions().includeAuthorizedOperations(true));
            return found.clusterId().get().length() + " " + found.controller().get() + " "
                + found.nodes().get() + " " + Said.text(found.authorizedOperations());
        });
        said.inTime("client instance id", () ->
            admin.clientInstanceId(java.time.Duration.ofSeconds(1)));
    }

    private void directories(String servers) throws Exception {
        admin.createTopics(List.of(new NewTopic("stored", 2, (short) 1))).all().get();
        Producing.some(servers, "stored", 5);
        said.of("describe log directories", () -> {
            Map<String, String> stored = new TreeMap<>();
            for (LogDirDescription each : admin.describeLogDirs(List.of(1)).allDescriptions()
                .get().get(1).values()) {
                each.replicaInfos().forEach((partition, replica) -> {
                    if (partition.topic().equals("stored")) {
                        stored.put(partition.toString(), replica.toString());
                    }
                });
            }
            return stored;
        });
        said.inTime("describe log directories of another", () -> admin.describeLogDirs(
            List.of(7), new DescribeLogDirsOptions().timeoutMs(1500)).allDescriptions());
        var replica = new TopicPartitionReplica("stored", 0, 1);
        said.of("describe a replica's directory", () -> admin.describeReplicaLogDirs(
            List.of(replica)).all().get().get(replica).getCurrentReplicaOffsetLag());
        for (String wrong : List.of("/nowhere", "relative")) {
            said.of("move a replica to " + wrong, () ->
                admin.alterReplicaLogDirs(Map.of(replica, wrong)).all());
        }
        said.of("move an unknown replica", () -> admin.alterReplicaLogDirs(
            Map.of(new TopicPartitionReplica("unknown", 0, 1), "/nowhere")).all());
    }

    private void features() {
        said.of("describe features", () -> admin.describeFeatures().featureMetadata());
        for (boolean isOnlyToSee : List.of(true, false)) {
            said.of("update an unknown feature " + isOnlyToSee, () -> admin.updateFeatures(
                Map.of("odd", new FeatureUpdate((short) 1, FeatureUpdate.UpgradeType.UPGRADE)),
                new UpdateFeaturesOptions().validateOnly(isOnlyToSee)).all());
        }
        said.of("remove an unknown feature", () -> admin.updateFeatures(
            Map.of("odd", new FeatureUpdate((short) 0, FeatureUpdate.UpgradeType.SAFE_DOWNGRADE)),
            new UpdateFeaturesOptions()).all());
    }

    private void onlyOfKRaft() {
        said.of("describe the quorum", () -> admin.describeMetadataQuorum().quorumInfo());
        said.of("unregister a broker", () -> admin.unregisterBroker(7).all());
        said.of("add a voter", () -> admin.addRaftVoter(1, new Uuid(1, 2),
            Set.of(new RaftVoterEndpoint("A", "localhost", 1))).all());
        said.of("remove a voter", () -> admin.removeRaftVoter(1, new Uuid(1, 2)).all());
    }
}
