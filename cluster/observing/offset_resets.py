"""Where a group shall go on: the offsets that a wish means, within what the logs hold.

The wishes and their bounds are those of Kafka's ConsumerGroupCommand.
"""

from __future__ import annotations

from dataclasses import dataclass

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
