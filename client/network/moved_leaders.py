"""New leaders that Produce and Fetch responses name beside an error (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from logquake.client.network.effects import Node
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

_LEADS_NO_MORE = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)


class Leader(Protocol):
    leader_id: int
    leader_epoch: int


class Endpoint(Protocol):
    node_id: int
    host: str
    port: int
    rack: str | None


def moved_leaders(
    told: Iterable[tuple[TopicPartition, int, Leader]],
) -> dict[TopicPartition, tuple[int, int]]:
    """Leader ids and epochs, if the broker knew them, of partitions with these error codes."""
    return {
        place: (leader.leader_id, leader.leader_epoch)
        for place, code, leader in told
        if code in _LEADS_NO_MORE
        and leader.leader_id != NO_LEADER
        and leader.leader_epoch != NO_LEADER_EPOCH
    }


def nodes_at(endpoints: Iterable[Endpoint]) -> list[Node]:
    return [Node(each.node_id, each.host, each.port, each.rack) for each in endpoints]
