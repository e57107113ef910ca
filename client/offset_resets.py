"""Where a group shall go on: the offsets that a wish means, within what the logs hold.

The wishes and their bounds are those of Kafka's ConsumerGroupCommand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from logquake.client.offsets import list_offsets
from logquake.client.routing import Router
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, UNKNOWN_OFFSET
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
    router: Router,
    places: Collection[TopicPartition],
    committed: Mapping[TopicPartition, int],
    goal: ResetGoal,
) -> list[PlannedOffset]:
    """In order. Raises ClientError, and ValueError for a shift from where nothing is committed."""
    plan = []
    for topic, of_topic in groupby(sorted(places), key=lambda place: place.topic):
        partitions = [place.partition for place in of_topic]
        for partition, log in log_ranges(router, topic, partitions, goal).items():
            place = TopicPartition(topic, partition)
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
    router: Router, topic: str, partitions: Sequence[int], goal: ResetGoal
) -> dict[int, LogRange]:
    """What there is to choose from, by partition. Raises ClientError."""

    def offsets_at(time_ms: int) -> dict[int, int]:
        found = list_offsets(router, topic, dict.fromkeys(partitions, time_ms))
        return {partition: each.offset for partition, each in found.items()}

    earliest, latest = offsets_at(EARLIEST_TIMESTAMP), offsets_at(LATEST_TIMESTAMP)
    at_time = offsets_at(goal.time_ms) if isinstance(goal, ToTime) else {}
    return {
        partition: LogRange(
            earliest[partition], latest[partition], at_time.get(partition, UNKNOWN_OFFSET)
        )
        for partition in partitions
    }
