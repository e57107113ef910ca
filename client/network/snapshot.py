"""What is known of a cluster at one moment (org.apache.kafka.clients.MetadataSnapshot)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from logquake.client.network.effects import Node
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.sentinels import NO_CONTROLLER, NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

# Earlier versions could report an epoch that was not the latest (KAFKA-9212).
_EPOCHS_RELIABLE_SINCE = 9

# Kafka's InvalidMetadataException and similar: the metadata is stale or incomplete.
STALE = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
    }
)


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """``leader`` may be NO_LEADER, ``leader_epoch`` is NO_LEADER_EPOCH if not reported."""

    leader: int
    leader_epoch: int
    error: ErrorCode
    replicas: tuple[int, ...] = ()
    in_sync: tuple[int, ...] = ()
    offline: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicInfo:
    topic_id: bytes  # ZERO_UUID from brokers without topic ids
    error: ErrorCode
    partitions: Mapping[int, PartitionInfo]
    is_internal: bool = False  # such as __consumer_offsets

    @property
    def is_stale(self) -> bool:
        return self.error in STALE or any(one.error in STALE for one in self.partitions.values())

    def knows_leader(self, partition: int) -> bool:
        told = self.partitions.get(partition)
        return told is not None and told.leader != NO_LEADER

    def without_leaders(self) -> TopicInfo:
        """The same partitions, in the same epochs."""
        led = {index: replace(one, leader=NO_LEADER) for index, one in self.partitions.items()}
        return replace(self, partitions=led)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """``topics`` by name, including those with an error."""

    nodes: Mapping[int, Node]
    topics: Mapping[str, TopicInfo] = field(default_factory=dict)
    controller_id: int = NO_CONTROLLER

    @property
    def controller(self) -> Node | None:
        """None if there is none, or its address is unknown."""
        return self.nodes.get(self.controller_id)

    @property
    def is_bootstrap(self) -> bool:
        """Whether only the configured addresses are known."""
        return all(node_id < 0 for node_id in self.nodes)

    def partition(self, place: TopicPartition) -> PartitionInfo | None:
        topic = self.topics.get(place.topic)
        return topic.partitions.get(place.partition) if topic else None

    def with_topics(self, topics: Mapping[str, TopicInfo]) -> Snapshot:
        """A copy with these topics added or replaced."""
        return replace(self, topics={**self.topics, **topics})


def nodes_told(answer: MetadataResponse) -> dict[int, Node]:
    return {one.node_id: Node(one.node_id, one.host, one.port, one.rack) for one in answer.brokers}


def topic_told(topic: MetadataResponseTopic, version: int) -> TopicInfo:
    """``version`` is the response's."""
    return TopicInfo(
        topic.topic_id,
        ErrorCode.of_peer(topic.error_code),
        {one.partition_index: _partition_told(one, version) for one in topic.partitions},
        topic.is_internal,
    )


def _partition_told(partition: MetadataResponsePartition, version: int) -> PartitionInfo:
    is_reliable = version >= _EPOCHS_RELIABLE_SINCE
    return PartitionInfo(
        partition.leader_id if partition.leader_id >= 0 else NO_LEADER,
        partition.leader_epoch if is_reliable else NO_LEADER_EPOCH,
        ErrorCode.of_peer(partition.error_code),
        tuple(partition.replica_nodes),
        tuple(partition.isr_nodes),
        tuple(partition.offline_replicas),
    )
