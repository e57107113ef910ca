"""A cluster's state as rows of text, for the command line and for what a time-out reports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from logquake.cluster.state import ClusterState, MemberState, Phase
from logquake.wire.sentinels import NO_LEADER
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

if TYPE_CHECKING:
    from logquake.cluster.observing.coordinated import OpenTransaction
    from logquake.cluster.observing.groups import ListedGroup

Rows = list[tuple[str, ...]]

MEMBER_COLUMNS = ("member", "address", "pid", "state", "since", "leads", "last end")
PARTITION_COLUMNS = ("partition", "leader", "epoch", "isr")
FAULT_COLUMNS = ("id", "fault", "since", "until")
GROUP_COLUMNS = ("group", "state", "type", "coordinator")
TRANSACTION_COLUMNS = ("open transaction", "state", "producer", "age", "partitions", "coordinator")


def member_rows(state: ClusterState, leads: Mapping[int, int] | None) -> Rows:
    """One row a member. ``leads`` counts partitions by leader; None when it is not known."""
    rows: Rows = []
    for member in state.members:
        rows.append(
            (
                member.name,
                member.address,
                str(member.pid or "-"),
                str(member.phase),
                _ago(member.since_ms),
                _leads(member, leads),
                f"{member.ended} at {_clock(member.ended.at_ms)}" if member.ended else "-",
            )
        )
    return rows


def partition_rows(partitions: Mapping[TopicPartition, PartitionState]) -> Rows:
    return [
        (
            f"{topic}-{partition}",
            "none" if state.leader == NO_LEADER else str(state.leader),
            str(state.leader_epoch),
            ",".join(map(str, state.isr)),
        )
        for (topic, partition), state in sorted(partitions.items())
    ]


def fault_rows(faults: Iterable[Mapping[str, Any]]) -> Rows:
    """Of RunningCluster.standing_faults()."""
    return [
        (
            str(fault["id"]),
            _met(fault),
            _clock(fault["since_ms"]),
            "healed" if fault["until_ms"] is None else _clock(fault["until_ms"]),
        )
        for fault in faults
    ]


def _met(fault: Mapping[str, Any]) -> str:
    """What it is, and of a fault of requests how many it has met."""
    return f"{fault['what']}; met {fault['hits']}" if "hits" in fault else str(fault["what"])


def group_rows(groups: Iterable[ListedGroup]) -> Rows:
    return [
        (each.group_id, each.state, each.protocol_type or "-", str(each.coordinator))
        for each in groups
    ]


def transaction_rows(transactions: Iterable[OpenTransaction]) -> Rows:
    return [
        (
            each.transactional_id,
            each.state,
            f"{each.producer_id}, epoch {each.producer_epoch}",
            "-" if each.started_ms is None else _ago(each.started_ms),
            ",".join(map(str, each.partitions)) or "-",
            str(each.coordinator),
        )
        for each in transactions
    ]


def state_counts(states: Iterable[str]) -> str:
    """``2 Stable, 1 Empty``, or ``none``."""
    counts = Counter(states).most_common()
    return ", ".join(f"{count} {state}" for state, count in counts) or "none"


def leader_counts(partitions: Mapping[TopicPartition, PartitionState]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for state in partitions.values():
        counts[state.leader] = counts.get(state.leader, 0) + 1
    return counts


def as_text(columns: Sequence[str], rows: Rows) -> str:
    """The rows below their column names, aligned."""
    lines = [tuple(columns), *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _leads(member: MemberState, leads: Mapping[int, int] | None) -> str:
    if leads is None or member.broker_id is None or member.phase is not Phase.RUNNING:
        return "-"
    return str(leads.get(member.broker_id, 0))


def _ago(since_ms: int) -> str:
    seconds = max(0, time.time_ns() // 1_000_000 - since_ms) // 1000
    return f"{seconds} s" if seconds < 120 else f"{seconds // 60} min"


def _clock(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000).astimezone().strftime("%H:%M:%S")
