"""What a reset of a group's offsets comes to, by what the logs hold now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from logquake.client import Admin
from logquake.client.admin import OffsetSpec
from logquake.cluster.observing.log_offsets import offsets_at
from logquake.cluster.observing.offset_resets import LogRange, ResetGoal, ToTime, offset_after
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition


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
    for place, log in _log_ranges(admin, places, goal).items():
        before = committed.get(place)
        plan.append(PlannedOffset(place, before, offset_after(place, before, log, goal)))
    return plan


def _log_ranges(
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
