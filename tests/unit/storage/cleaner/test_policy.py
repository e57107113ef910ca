"""Which part of a log is dirty, and which log goes first (LogCleanerManagerTest's behaviours)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from logquake.storage.cleaner.policy import LogFacts, LogToClean, assess, dirtiest
from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True)
class SegmentOf:
    base_offset: int
    size: int = 100
    first_timestamp: int = 0
    newest: int = 0

    def largest_timestamp(self) -> int:
        return self.newest


CONFIG = LogConfig(compacted=True)
NOW_MS = 100_000


def log(*segments: SegmentOf, config: LogConfig = CONFIG, **facts: Any) -> LogFacts:
    """Segments 0, 100, 200, 300 (active) by default, all of it stable, up to offset 350."""
    found = segments or tuple(SegmentOf(base) for base in (0, 100, 200, 300))
    whole = LogFacts(0, 350, 350, found, config)
    return replace(whole, **facts)


def test_a_log_without_a_checkpoint_is_dirty_from_its_start() -> None:
    to_clean = assess(log(), None, NOW_MS)
    assert (to_clean.first_dirty, to_clean.first_uncleanable) == (0, 300)
    assert (to_clean.clean_bytes, to_clean.cleanable_bytes) == (0, 300)
    assert to_clean.reset_why is None
    assert to_clean.is_due


def test_dirt_begins_at_the_checkpoint_and_ends_before_the_active_segment() -> None:
    to_clean = assess(log(), 200, NOW_MS)
    assert (to_clean.clean_bytes, to_clean.cleanable_bytes) == (200, 100)
    assert to_clean.ratio == pytest.approx(1 / 3)
    assert not to_clean.is_due


def test_the_segment_in_which_dirt_begins_is_dirty() -> None:
    to_clean = assess(log(), 250, NOW_MS)
    assert to_clean.first_dirty == 250
    assert to_clean.cleanable_bytes == 100


@pytest.mark.parametrize(("stable", "first_uncleanable"), [(300, 300), (299, 200), (0, 0)])
def test_a_segment_that_reaches_past_the_last_stable_offset_is_left(
    stable: int, first_uncleanable: int
) -> None:
    to_clean = assess(log(last_stable_offset=stable), None, NOW_MS)
    assert to_clean.first_uncleanable == first_uncleanable


def test_records_younger_than_the_lag_are_left_with_all_that_follows() -> None:
    segments = (SegmentOf(0), SegmentOf(100, newest=95_000), SegmentOf(200), SegmentOf(300))
    config = replace(CONFIG, min_compaction_lag_ms=10_000)
    assert assess(log(*segments, config=config), None, NOW_MS).first_uncleanable == 100
    assert assess(log(*segments, config=config), None, 105_000).first_uncleanable == 300


def test_a_checkpoint_before_the_log_start_or_past_its_end_is_reset() -> None:
    before = assess(log(start_offset=100), 50, NOW_MS)
    assert before.first_dirty == 100
    assert "start" in (before.reset_why or "")
    past = assess(log(), 351, NOW_MS)
    assert past.first_dirty == 0
    assert "end" in (past.reset_why or "")


def test_a_checkpoint_within_the_active_segment_leaves_nothing_to_do() -> None:
    to_clean = assess(log(), 350, NOW_MS)
    assert to_clean.cleanable_bytes == 0
    assert not to_clean.is_due


def test_an_empty_log_is_not_due() -> None:
    assert not assess(log(SegmentOf(0, size=0), end_offset=0), None, NOW_MS).is_due


def test_old_dirt_is_due_however_little_it_is() -> None:
    segments = (
        SegmentOf(0, size=1_000),
        SegmentOf(100, size=1, first_timestamp=5_000),
        SegmentOf(200, first_timestamp=1),
    )
    config = replace(CONFIG, max_compaction_lag_ms=90_000)
    late = assess(log(*segments, config=config), 100, NOW_MS)
    assert late.overdue_ms == 5_000
    assert late.is_due
    assert "max.compaction.lag.ms" in late.why
    assert not assess(log(*segments, config=config), 100, 95_000).is_due


def test_nothing_is_overdue_without_a_bound() -> None:
    assert assess(log(SegmentOf(0, first_timestamp=1), SegmentOf(100)), None, 2**62).overdue_ms == 0


def to_clean(clean: int, dirty: int, *, overdue_ms: int = 0) -> LogToClean:
    return LogToClean(0, 100, clean, dirty, overdue_ms, 0.5)


def test_the_dirtiest_of_those_that_are_due_goes_first() -> None:
    logs = {
        TopicPartition("a", 0): to_clean(100, 150),
        TopicPartition("b", 0): to_clean(100, 300),
        TopicPartition("c", 0): to_clean(100, 99),
    }
    assert dirtiest(logs.items()) == TopicPartition("b", 0)
    assert dirtiest([(TopicPartition("c", 0), logs[TopicPartition("c", 0)])]) is None
    assert dirtiest([(TopicPartition("c", 0), to_clean(100, 99, overdue_ms=1))]) == TopicPartition(
        "c", 0
    )
    assert dirtiest([(TopicPartition("d", 0), to_clean(100, 0, overdue_ms=1))]) is None


def test_of_equals_the_first_by_name_goes_first() -> None:
    logs = [
        (TopicPartition("b", 1), to_clean(0, 10)),
        (TopicPartition("b", 0), to_clean(0, 10)),
        (TopicPartition("a", 9), to_clean(0, 7)),
    ]
    assert dirtiest(logs) == TopicPartition("a", 9)
