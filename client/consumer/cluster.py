"""What a consumer needs to know of its cluster: `network.Metadata` satisfies it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from logquake.client.consumer.position import LeaderAndEpoch
from logquake.client.errors import ClientError, NoLeaderError, broker_error
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import Snapshot
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition


class ClusterView(Protocol):
    @property
    def snapshot(self) -> Snapshot: ...

    def request_update(self) -> None:
        """The metadata is stale."""


class FetchedCluster(ClusterView, Protocol):
    """A view that Fetch responses update as well."""

    def leaders_told(
        self, leaders: Mapping[TopicPartition, tuple[int, int]], nodes: Iterable[Node]
    ) -> None: ...


def leader_of(snapshot: Snapshot, place: TopicPartition) -> LeaderAndEpoch:
    """NO_LEADER as well if the leader is an unknown broker (Metadata.currentLeader)."""
    told = snapshot.partition(place)
    if told is None:
        return LeaderAndEpoch()
    if told.leader not in snapshot.nodes:
        return LeaderAndEpoch(epoch=told.leader_epoch)
    return LeaderAndEpoch(told.leader, told.leader_epoch)


def why_not_led(snapshot: Snapshot, place: TopicPartition) -> ClientError | None:
    """None if the partition has a leader, and for an unknown topic."""
    topic = snapshot.topics.get(place.topic)
    if topic is None:
        return None
    if topic.error is not ErrorCode.NONE:
        return broker_error(topic.error, f"topic {place.topic}")
    told = topic.partitions.get(place.partition)
    if told is None:
        why = f"{place.topic} has no partition {place.partition}: it has {len(topic.partitions)}"
        return broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, why)
    return None if told.leader in snapshot.nodes else NoLeaderError(f"nobody leads {place}")
