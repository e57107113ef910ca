"""What ``group reset-offsets`` was told to do, and doing it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from logquake.client.commits import Committer, commit_offsets, committed_offsets
from logquake.client.errors import BrokerError
from logquake.client.groups import Groups
from logquake.client.offset_resets import (
    PlannedOffset,
    ResetGoal,
    ShiftBy,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
    plan_reset,
)
from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.cluster.cli.times import duration_ms, moment_ms
from logquake.cluster.errors import ClusterError
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

_GOALS = "--to-earliest, --to-latest, --to-offset, --shift-by, --by-duration or --to-datetime"


def goal_of(
    *,
    to_earliest: bool,
    to_latest: bool,
    to_offset: int | None,
    shift_by: int | None,
    by_duration: str | None,
    to_datetime: str | None,
) -> ResetGoal:
    """The one that was named. Raises ClusterError for none or several."""
    named: list[ResetGoal] = []
    if to_earliest:
        named.append(ToEarliest())
    if to_latest:
        named.append(ToLatest())
    if to_offset is not None:
        named.append(ToOffset(to_offset))
    if shift_by is not None:
        named.append(ShiftBy(shift_by))
    if by_duration is not None:
        named.append(ToTime(time.time_ns() // 1_000_000 - duration_ms(by_duration)))
    if to_datetime is not None:
        named.append(ToTime(moment_ms(to_datetime)))
    if len(named) != 1:
        raise ClusterError(f"say where to: one of {_GOALS}")
    return named[0]


def reset(
    router: Router, group_id: str, topics: Sequence[str], goal: ResetGoal, *, execute: bool
) -> list[PlannedOffset]:
    """The plan, carried out with `execute`. Raises ClusterError, ClientError and ValueError."""
    group = Groups(router).describe(group_id)
    if group.is_active:
        raise _busy(group_id, len(group.members))
    committed = committed_offsets(router, group_id)
    places = _places(router, topics, committed)
    if not places:
        raise ClusterError(f"group {group_id} has committed nothing: name a topic with --topic")
    plan = plan_reset(router, places, committed, goal)
    if execute:
        _commit(router, group_id, plan)
    return plan


def _commit(router: Router, group_id: str, plan: Sequence[PlannedOffset]) -> None:
    try:
        commit_offsets(router, Committer(group_id), {each.place: each.after for each in plan})
    except BrokerError as error:
        if error.code is ErrorCode.UNKNOWN_MEMBER_ID:  # somebody joined meanwhile
            raise _busy(group_id, 1) from error
        raise


def _busy(group_id: str, members: int) -> ClusterError:
    count = f"{members} member{'' if members == 1 else 's'}"
    return ClusterError(
        f"group {group_id} has {count}, who would go on where they are: "
        "stop them, then reset its offsets"
    )


def _places(
    router: Router, topics: Sequence[str], committed: Mapping[TopicPartition, int]
) -> set[TopicPartition]:
    """Those named, or all that the group committed in."""
    if not topics:
        return set(committed)
    return {place for topic in topics for place in _named(router, topic)}


def _named(router: Router, named: str) -> list[TopicPartition]:
    """Of ``orders`` all partitions, of ``orders:0,2`` those two. Raises ClusterError."""
    topic, separator, listed = named.partition(":")
    (found,) = Admin(router).describe_topics([topic])
    existing = [each.index for each in found.partitions]
    wanted = listed.split(",") if separator else [str(partition) for partition in existing]
    for partition in wanted:
        if not partition.isdecimal() or int(partition) not in existing:
            raise ClusterError(f"{topic} has no partition {partition!r}: it has {len(existing)}")
    return [TopicPartition(topic, int(partition)) for partition in wanted]
