"""A topic's partitions according to metadata (org.apache.kafka.common.PartitionInfo)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from logquake.client.network.effects import Node
from logquake.client.network.snapshot import Snapshot

_UNKNOWN_PORT = -1


class PartitionNodes(NamedTuple):
    """``leader`` is None if there is none. Of a broker that is down only the id is known."""

    topic: str
    partition: int
    leader: Node | None
    replicas: tuple[Node, ...]
    in_sync: tuple[Node, ...]
    offline: tuple[Node, ...]


def partitions_of(snapshot: Snapshot, topic: str) -> list[PartitionNodes]:
    """Sorted; empty for an unknown topic."""
    info = snapshot.topics.get(topic)
    told = info.partitions if info else {}
    return [
        PartitionNodes(
            topic,
            partition,
            snapshot.nodes.get(one.leader),
            _nodes(snapshot, one.replicas),
            _nodes(snapshot, one.in_sync),
            _nodes(snapshot, one.offline),
        )
        for partition, one in sorted(told.items())
    ]


def _nodes(snapshot: Snapshot, ids: Iterable[int]) -> tuple[Node, ...]:
    return tuple(snapshot.nodes.get(one) or Node(one, "", _UNKNOWN_PORT) for one in ids)
