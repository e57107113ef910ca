"""What a truncation leaves, and what is known of leader epochs after it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.storage.lone_log import LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]
EPOCHS = "leader-epoch-checkpoint"
UNKNOWN = (-1, -1)


def written_epochs(log: LoneLog) -> list[str]:
    return (log.ours / EPOCHS).read_text().splitlines()[2:]


def test_truncation_takes_epochs_that_begin_there(begin: Begin, batch: MakeBatch) -> None:
    """LeaderEpochFileCache.truncateFromEnd: entries that begin at the new end or later."""
    log = begin()
    for epoch in range(3):
        log.lead(epoch)
        log.produce(batch(5, 5), epoch)
    log.truncate(4)
    assert written_epochs(log) == ["0 0", "1 2"]
    assert log.epoch_end(1) == (1, 4)
    assert log.epoch_end(2) == UNKNOWN


def test_truncation_within_an_epoch_keeps_it(begin: Begin, batch: MakeBatch) -> None:
    log = begin()
    log.lead(3)
    log.produce(batch(5), 3)
    log.produce(batch(5), 3)
    log.truncate(1)
    assert written_epochs(log) == ["3 0"]


def test_truncation_at_the_end_takes_an_epoch_without_records(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.truncateTo: a leader that was elected and wrote nothing left an entry at the end,
    which would stand in the way of the next one's. Nothing else is cut.
    """
    log = begin()
    log.produce(batch(5))
    log.lead(2)
    assert written_epochs(log) == ["0 0", "2 1"]
    log.truncate(100)
    assert written_epochs(log) == ["0 0"]
    assert log.log.end_offset == 1


def test_an_epoch_that_takes_over_an_offset_drops_who_had_it(
    begin: Begin, batch: MakeBatch
) -> None:
    """LeaderEpochFileCache.maybeTruncateNonMonotonicEntries: two epochs begin at one offset when
    nothing was written in the first.
    """
    log = begin()
    log.produce(batch(5))
    for epoch in (1, 2, 4):
        log.lead(epoch)
    assert written_epochs(log) == ["0 0", "4 1"]
    assert log.epoch_end(3) == (0, 1)


def test_a_smaller_epoch_drops_the_larger_ones(begin: Begin, batch: MakeBatch) -> None:
    """LeaderEpochFileCache.maybeTruncateNonMonotonicEntries: what comes later wins."""
    log = begin()
    for epoch in (3, 5):
        log.lead(epoch)
        log.produce(batch(5), epoch)
    log.lead(4)
    assert written_epochs(log) == ["3 0", "4 2"]


def test_the_end_of_an_unknown_epoch(begin: Begin, batch: MakeBatch) -> None:
    """LeaderEpochFileCache.endOffsetFor: between known ones the one before answers, before the
    first one the epoch asked for, with the first one's start; beyond the latest nobody.
    """
    log = begin()
    for epoch in (2, 5):
        log.lead(epoch)
        log.produce(batch(5, 5), epoch)
    assert [log.epoch_end(epoch) for epoch in (1, 3, 5, 6)] == [(1, 0), (2, 2), (5, 4), UNKNOWN]


def test_a_raised_start_moves_the_epoch_it_lies_in(begin: Begin, batch: MakeBatch) -> None:
    """LeaderEpochFileCache.truncateFromStart: the epoch that wrote the new start begins there."""
    log = begin()
    for epoch in range(3):
        log.lead(epoch)
        log.produce(batch(5, 5), epoch)
    log.raise_start(3)
    assert written_epochs(log) == ["1 3", "2 4"]
    assert log.epoch_end(0) == (0, 3)
    log.reopen()
    assert written_epochs(log) == ["1 3", "2 4"]


def test_batches_of_a_follower_make_entries(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.append: by the epochs in the batches, not by the one in which it follows."""
    log = begin()
    log.replicate(batch(5, epoch=0))
    log.replicate(batch(5, epoch=4, offset=1))
    assert written_epochs(log) == ["0 0", "4 1"]


@pytest.mark.parametrize("offset", [2, 3, 4])
def test_truncation_into_a_batch_takes_all_of_it(
    offset: int, begin: Begin, batch: MakeBatch
) -> None:
    """LogSegment.truncateTo: batches are never divided. (Until its next start Kafka calls the
    offset asked for the log's end; the log here ends with its last batch at once, so that the next
    batch makes no gap.)
    """
    log = begin()
    log.produce(batch(5, 6))
    log.produce(batch(7, 8, 9))
    log.truncate(offset)
    assert log.log.end_offset == 2
    assert (log.ours / f"{0:020d}.log").stat().st_size == len(batch(5, 6))
    log.crash()
    log.open(clean=False)


def test_truncation_to_where_a_gap_begins_ends_there(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.truncateTo: the log ends at the offset asked for, not after the gap that
    compaction left: a new leader may have written to it what the old one's log never held.
    """
    log = begin(compacted=True)
    log.replicate(batch(5, epoch=0))
    log.replicate(batch(5, offset=10, epoch=0))
    log.truncate(1)
    assert log.log.end_offset == 1
    log.replicate(batch(5, offset=1, epoch=1))
    assert [header.base_offset for header in log.log.headers(0)] == [0, 1]


def test_truncation_to_the_beginning_of_a_segment_keeps_it(begin: Begin, batch: MakeBatch) -> None:
    """LocalLog.truncateTo: segments that begin beyond go, the one that begins there is emptied."""
    size = len(batch(5))
    log = begin(segment_bytes=size)
    for _ in range(4):
        log.produce(batch(5))
    log.truncate(2)
    assert log.files(".log") == [0, 1, 2]
    assert log.files(".snapshot") == [1, 2]
    log.produce(batch(5))


def test_truncation_below_the_log_start_lowers_it(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.truncateTo: logStartOffset = min(target, logStartOffset)."""
    log = begin()
    for _ in range(4):
        log.produce(batch(5))
    log.raise_start(3)
    log.truncate(1)
    assert (log.log.start_offset, log.log.end_offset) == (1, 1)


def test_truncation_before_the_first_segment_begins_anew_there(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.truncateTo, truncateFullyAndStartAt."""
    size = len(batch(5))
    log = begin(segment_bytes=size, retention_bytes=size)
    for _ in range(4):
        log.produce(batch(5))
    log.retain()
    log.truncate(1)
    assert log.files(".log") == [1]
    assert (log.log.start_offset, log.log.end_offset) == (1, 1)
    assert written_epochs(log) == []


def test_a_fresh_beginning_ahead_forgets_everything(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.truncateFullyAndStartAt: a follower whose log ends before its leader's begins."""
    log = begin()
    log.produce(batch(5, pid=7, sequence=0))
    log.restart(50)
    assert (log.log.start_offset, log.log.end_offset) == (50, 50)
    assert log.files(".snapshot") == []
    assert written_epochs(log) == []
    log.lead(1)
    assert log.accepts(batch(5, pid=7, sequence=9), 1)
