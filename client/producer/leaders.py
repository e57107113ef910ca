"""What a producer needs to know of a cluster (org.apache.kafka.common.Cluster)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from logquake.client.network.snapshot import Snapshot
from logquake.wire.sentinels import NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition


class Leader(NamedTuple):
    """``epoch`` is NO_LEADER_EPOCH from old brokers."""

    node_id: int
    epoch: int


class PartitionsOfTopic(NamedTuple):
    """``available`` are those that have a leader."""

    all: Sequence[int]
    available: Sequence[int]


class Leaders:
    """The leaders in one `Snapshot`, computed once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.topics: dict[str, PartitionsOfTopic] = {}
        self.led_by: dict[int, list[TopicPartition]] = defaultdict(list)
        self._epochs: dict[TopicPartition, int] = {}
        self._leaders: dict[TopicPartition, Leader] = {}
        for topic, info in snapshot.topics.items():
            for partition, told in sorted(info.partitions.items()):
                place = TopicPartition(topic, partition)
                self._epochs[place] = told.leader_epoch
                if told.leader in snapshot.nodes:
                    self._leaders[place] = Leader(told.leader, told.leader_epoch)
                    self.led_by[told.leader].append(place)
            available = [
                one for one in info.partitions if TopicPartition(topic, one) in self._leaders
            ]
            self.topics[topic] = PartitionsOfTopic(sorted(info.partitions), sorted(available))

    def of(self, place: TopicPartition) -> Leader | None:
        return self._leaders.get(place)

    def epoch(self, place: TopicPartition) -> int:
        """The epoch of its last leader, even if it has none now."""
        return self._epochs.get(place, NO_LEADER_EPOCH)
