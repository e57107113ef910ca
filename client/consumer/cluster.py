"""What a consumer wants to know of its cluster: `network.Metadata` is one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from logquake.client.consumer.position import LeaderAndEpoch
from logquake.client.network.effects import Node
from logquake.client.network.snapshot import Snapshot
from logquake.wire.topic_partition import TopicPartition


class ClusterView(Protocol):
    @property
    def snapshot(self) -> Snapshot: ...

    def request_update(self) -> None:
        """What is known is old."""


class FetchedCluster(ClusterView, Protocol):
    """Also learns from what is fetched."""

    def leaders_told(
        self, leaders: Mapping[TopicPartition, tuple[int, int]], nodes: Iterable[Node]
    ) -> None: ...


def leader_of(snapshot: Snapshot, place: TopicPartition) -> LeaderAndEpoch:
    """NO_LEADER too where the leader is no broker that is known (Metadata.currentLeader)."""
    told = snapshot.partition(place)
    if told is None:
        return LeaderAndEpoch()
    if told.leader not in snapshot.nodes:
        return LeaderAndEpoch(epoch=told.leader_epoch)
    return LeaderAndEpoch(told.leader, told.leader_epoch)
