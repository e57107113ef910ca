"""What ``group reset-offsets`` was told to do, and doing it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from logquake.client import Admin, OffsetAndMetadata
from logquake.client.errors import BrokerError
from logquake.cluster.cli.times import duration_ms, moment_ms
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.group_progress import committed_offsets
from logquake.cluster.observing.groups import described_group
from logquake.cluster.observing.log_offsets import partitions_of
from logquake.cluster.observing.offset_resets import (
    ResetGoal,
    ShiftBy,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from logquake.cluster.observing.planned_resets import PlannedOffset, plan_reset
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
    admin: Admin, group_id: str, topics: Sequence[str], goal: ResetGoal, *, execute: bool
) -> list[PlannedOffset]:
    """The plan, carried out with `execute`. Raises ClusterError, ClientError and ValueError."""
    group = described_group(admin, group_id)
    if group.is_active:
        raise _busy(group_id, len(group.members))
    committed = committed_offsets(admin, group_id)
    places = _places(admin, topics, committed)
    if not places:
        raise ClusterError(f"group {group_id} has committed nothing: name a topic with --topic")
    plan = plan_reset(admin, places, committed, goal)
    if execute:
        _commit(admin, group_id, plan)
    return plan


def _commit(admin: Admin, group_id: str, plan: Sequence[PlannedOffset]) -> None:
    wanted = {each.place: OffsetAndMetadata(each.after) for each in plan}
    try:
        for altered in admin.alter_consumer_group_offsets(group_id, wanted).values():
            altered.result()
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
    admin: Admin, topics: Sequence[str], committed: Mapping[TopicPartition, int]
) -> set[TopicPartition]:
    """Those named, or all that the group committed in."""
    if not topics:
        return set(committed)
    return {place for topic in topics for place in _named(admin, topic)}


def _named(admin: Admin, named: str) -> list[TopicPartition]:
    """Of ``orders`` all partitions, of ``orders:0,2`` those two. Raises ClusterError."""
    topic, separator, listed = named.partition(":")
    existing = partitions_of(admin, topic)
    if not separator:
        return existing
    by_name = {str(place.partition): place for place in existing}
    for partition in listed.split(","):
        if partition not in by_name:
            raise ClusterError(f"{topic} has no partition {partition!r}: it has {len(existing)}")
    return [by_name[partition] for partition in listed.split(",")]
