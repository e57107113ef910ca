"""Where a group goes on."""

from __future__ import annotations

import pytest

from logquake.cluster.observing.offset_resets import (
    LogRange,
    ResetGoal,
    ShiftBy,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
    offset_after,
)
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("t", 0)
LOG = LogRange(earliest=10, latest=20, at_time=15)


@pytest.mark.parametrize(
    ("goal", "after"),
    [
        (ToEarliest(), 10),
        (ToLatest(), 20),
        (ToOffset(12), 12),
        (ToOffset(9), 10),
        (ToOffset(21), 20),
        (ShiftBy(2), 14),
        (ShiftBy(-5), 10),
        (ShiftBy(100), 20),
        (ToTime(1), 15),
    ],
)
def test_a_wish_is_kept_within_the_log(goal: ResetGoal, after: int) -> None:
    assert offset_after(PLACE, 12, LOG, goal) == after


def test_after_the_last_record_comes_the_end() -> None:
    assert offset_after(PLACE, None, LogRange(10, 20, UNKNOWN_OFFSET), ToTime(1)) == 20


def test_a_shift_needs_something_to_shift() -> None:
    with pytest.raises(ValueError, match="t-0 has no committed offset to shift from"):
        offset_after(PLACE, None, LOG, ShiftBy(1))
