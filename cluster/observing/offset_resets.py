"""Where a group shall go on: the offsets that a wish means, within what the logs hold.

The wishes and their bounds are those of Kafka's ConsumerGroupCommand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from logquake.client import Admin
from logquake.client.admin import OffsetSpec
from logquake.cluster.observing.log_offsets import offsets_at
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class ToEarliest: ...


@dataclass(frozen=True, slots=True)
class ToLatest: ...


@dataclass(frozen=True, slots=True)
class ToOffset:
    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """Records forward, or back where it is negative."""

    count: int


@dataclass(frozen=True, slots=True)
class ToTime:
    """The first record that is as late; the end where there is none."""

    time_ms: int


ResetGoal = ToEarliest | ToLatest | ToOffset | ShiftBy | ToTime


@dataclass(frozen=True, slots=True)
class LogRange:
    earliest: int
    latest: int
    at_time: int  # UNKNOWN_OFFSET when no record is as late, or no time was asked for


@dataclass(frozen=True, slots=True)
class PlannedOffset:
    place: TopicPartition
    before: int | None  # None: nothing is committed
    after: int


def plan_reset(
    admin: Admin,
    places: Collection[TopicPartition],
    committed: Mapping[TopicPartition, int],
    goal: ResetGoal,
) -> list[PlannedOffset]:
    """In order. Raises ClientError, and ValueError for a shift from where nothing is committed."""
    plan = []
    for place, log in log_ranges(admin, places, goal).items():
        before = committed.get(place)
        plan.append(PlannedOffset(place, before, offset_after(place, before, log, goal)))
    return plan


def offset_after(place: TopicPartition, before: int | None, log: LogRange, goal: ResetGoal) -> int:
    """Raises ValueError for a shift from where nothing is committed."""
    match goal:
        case ToEarliest():
            return log.earliest
        case ToLatest():
            return log.latest
        case ToOffset(offset):
            return _within(offset, log)
        case ShiftBy(count):
            if before is None:
                raise ValueError(f"{place} has no committed offset to shift from")
            return _within(before + count, log)
        case ToTime():
            return log.latest if log.at_time == UNKNOWN_OFFSET else log.at_time


def _within(offset: int, log: LogRange) -> int:
    return max(log.earliest, min(offset, log.latest))


def log_ranges(
    admin: Admin, places: Collection[TopicPartition], goal: ResetGoal
) -> dict[TopicPartition, LogRange]:
    """What there is to choose from, in order. Raises ClientError."""
    earliest = offsets_at(admin, places, OffsetSpec.EARLIEST)
    latest = offsets_at(admin, places, OffsetSpec.LATEST)
    at_time = offsets_at(admin, places, goal.time_ms) if isinstance(goal, ToTime) else {}
    return {
        place: LogRange(earliest[place], latest[place], at_time.get(place, UNKNOWN_OFFSET))
        for place in sorted(places)
    }
