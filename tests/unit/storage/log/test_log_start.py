"""Moving a log's start ahead of its files (UnifiedLog.maybeIncrementLogStartOffset)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.storage.errors import OffsetOutOfRange
from logquake.storage.log.log import Log

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]


@pytest.fixture
def log(open_log: OpenLog, make_batch: MakeBatch) -> Log:
    """Offsets 0 to 9 in epoch 2, 10 to 19 in epoch 5; one segment."""
    log = open_log()
    log.stage_as_leader(make_batch(10), 2, 0)
    log.stage_as_leader(make_batch(10), 5, 0)
    log.commit()
    return log


def test_reads_before_the_start_are_out_of_range_at_once(log: Log) -> None:
    assert log.raise_start(12, 20)
    with pytest.raises(OffsetOutOfRange):
        log.read(11, 1_000, up_to=20)
    assert log.read(12, 1_000, up_to=20).first_offset == 10  # the batch that holds it


def test_the_start_never_goes_back(log: Log) -> None:
    log.raise_start(12, 20)
    assert not log.raise_start(12, 20)
    assert not log.raise_start(3, 20)
    assert log.start_offset == 12


def test_the_start_cannot_pass_the_high_watermark(log: Log) -> None:
    with pytest.raises(OffsetOutOfRange):
        log.raise_start(16, 15)
    assert log.start_offset == 0
    assert log.raise_start(15, 15)


def test_the_epoch_that_the_start_lies_in_begins_there(log: Log) -> None:
    log.raise_start(4, 20)
    assert list(log.epochs.entries) == [(2, 4), (5, 10)]
    log.raise_start(12, 20)
    assert list(log.epochs.entries) == [(5, 12)]


def test_the_checkpoint_is_needed_only_within_a_segment(log: Log) -> None:
    within = [log.start_is_within_segment]
    log.raise_start(1, 20)
    within.append(log.start_is_within_segment)
    log.raise_start(20, 20)
    log.delete_old(0, 20)
    within.append(log.start_is_within_segment)
    # Cleanup by log start never takes the active segment.
    assert within == [False, True, True]


def test_a_restart_begins_where_the_checkpoint_says(log: Log, open_log: OpenLog) -> None:
    log.raise_start(12, 20)
    log.close(clean=True)
    again = open_log(log_start_offset=12)
    assert (again.start_offset, again.written_end_offset) == (12, 20)
    assert again.offset_for_time(0) == (1_002, 12)
