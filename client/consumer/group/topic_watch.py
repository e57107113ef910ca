"""Whether topics or the subscription have changed since the group learned of them
(ConsumerCoordinator).

A leader watches the topics of all members: only it knows what the assignment was based on.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeAlias

from logquake.client.consumer.assignors.assignor import PartitionsByTopic
from logquake.client.consumer.group.group_cluster import GroupCluster
from logquake.client.consumer.subscription import Subscriptions, ToPattern
from logquake.client.network.snapshot import Snapshot, TopicInfo
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

Seen: TypeAlias = Mapping[str, tuple[frozenset[str], ...]]
"""The racks of each partition's replicas; empty if racks do not matter to this member."""


class TopicWatch:
    def __init__(
        self, subscriptions: Subscriptions, cluster: GroupCluster, *, heeds_racks: bool
    ) -> None:
        self._subscriptions = subscriptions
        self._cluster = cluster
        self._heeds_racks = heeds_racks
        self._updates: int | None = None
        self._seen: Seen = {}
        self._assigned_by: Seen | None = None  # of a leader
        self._joined_with: frozenset[str] | None = None

    def update(self) -> None:
        """Take in the current metadata, and match a pattern anew."""
        if self._cluster.updates == self._updates:
            return
        self._updates = self._cluster.updates
        if isinstance(self._subscriptions.wish, ToPattern):
            self._match(known_topics(self._cluster.snapshot))
        seen = self._look()
        # If equal, keep the same object: each poll compares by identity.
        self._seen = self._assigned_by if seen == self._assigned_by else seen

    def reason_to_rejoin(self) -> str | None:
        if self._assigned_by is not None and self._assigned_by is not self._seen:
            return "cached metadata has changed"
        if self._joined_with is not None and self._joined_with != self._subscriptions.topics:
            return "subscription has changed"
        return None

    # What becomes of the member

    def joins(self) -> None:
        self._joined_with = self._subscriptions.topics

    def leads(self) -> None:
        """It assigns from the current metadata."""
        self.update()
        self._seen = self._assigned_by = self._look()

    def thought_of_more(self, named: Collection[str]) -> None:
        """Topics other than those ``named`` by members became known after it assigned."""
        now = self._look()
        others = {name: partitions for name, partitions in now.items() if name not in named}
        assigned_by = {**others, **(self._assigned_by or {})}
        self._seen = now
        self._assigned_by = now if assigned_by == now else assigned_by

    def leads_no_more(self) -> None:
        self._assigned_by = None

    def adopt(self, places: Collection[TopicPartition]) -> None:
        """A leader that knows more topics may assign new ones that match the pattern."""
        if not isinstance(self._subscriptions.wish, ToPattern) or self._joined_with is None:
            return
        added = {place.topic for place in places} - self._joined_with
        if added:
            self._match(self._subscriptions.topics | added)
            self._joined_with |= added

    # Within

    def _match(self, topics: Collection[str]) -> None:
        if self._subscriptions.match(topics):
            self._cluster.request_update_for_new_topics()

    def _look(self) -> Seen:
        snapshot = self._cluster.snapshot
        topics = self._subscriptions.metadata_topics
        # Whether a missing topic is listed depends on the request: that is not a change.
        known = {
            name: info
            for name, info in snapshot.topics.items()
            if name in topics and info.partitions
        }
        if self._heeds_racks:
            return {name: tuple(_racks(snapshot, info)) for name, info in known.items()}
        return {name: (frozenset(),) * len(info.partitions) for name, info in known.items()}


def known_topics(snapshot: Snapshot) -> list[str]:
    """The existing topics."""
    return [name for name, info in snapshot.topics.items() if info.error is ErrorCode.NONE]


def partitions_of(snapshot: Snapshot) -> PartitionsByTopic:
    """Partitions in the form that assignors take."""
    return {name: _racks(snapshot, snapshot.topics[name]) for name in known_topics(snapshot)}


def _racks(snapshot: Snapshot, topic: TopicInfo) -> list[frozenset[str]]:
    def racks(number: int) -> frozenset[str]:
        info = topic.partitions.get(number)
        nodes = (snapshot.nodes.get(replica) for replica in (info.replicas if info else ()))
        return frozenset(node.rack for node in nodes if node is not None and node.rack)

    return [racks(number) for number in range(len(topic.partitions))]
