"""What Kafka's .index and .timeindex list, and what they do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.storage.lone_log import LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]
INDEX, TIME_INDEX = ".index", ".timeindex"


def test_the_first_batch_gets_no_index_entry(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.append: an entry is due once more than index.interval.bytes lie behind the last
    one, counted from 0, and is asked for before the batch is counted. However small the interval,
    the first batch has none: it is found at position 0 without.
    """
    log = begin(index_interval_bytes=1)
    for _ in range(3):
        log.produce(batch(5, 5))
    size = len(batch(5, 5))
    log.close()
    assert log.entries(0, INDEX) == [(3, size), (5, 2 * size)]
    log.open()


def test_an_interval_must_be_exceeded(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.append: bytesSinceLastIndexEntry > indexIntervalBytes, equal is not enough."""
    size = len(batch(5))
    log = begin(index_interval_bytes=2 * size)
    for _ in range(5):
        log.produce(batch(5))
    log.close()
    assert log.entries(0, INDEX) == [(3, 3 * size)]
    log.open()


def test_a_start_counts_the_interval_anew(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.bytesSinceLastIndexEntry is 0 in a new object: the first batch after a start has
    no entry either, be the start clean or not.
    """
    log = begin()
    log.produce(batch(5))
    log.reopen()
    log.produce(batch(5))
    log.crash()
    log.open(clean=False)
    log.produce(batch(5))
    log.produce(batch(5))
    log.close()
    size = len(batch(5))
    # Recovery indexes what it scans without a break, so the second batch has its entry now.
    assert log.entries(0, INDEX) == [(1, size), (3, 3 * size)]
    log.open()


def test_an_entry_of_the_time_index_tells_the_largest_time_so_far(
    begin: Begin, batch: MakeBatch
) -> None:
    """LogSegment.append gives TimeIndex.maybeAppend the largest time of the segment and the last
    offset of its batch, not those of the batch that made the entry due. Older times make none.
    """
    log = begin()
    for timestamp in (10, 90, 50, 20, 95):
        log.produce(batch(timestamp))
    log.close()
    assert log.entries(0, TIME_INDEX) == [(90, 1), (95, 4)]
    assert [offset for offset, _ in log.entries(0, INDEX)] == [1, 2, 3, 4]
    log.open()


def test_equal_times_make_one_entry_of_the_first(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.append: the largest time is replaced only by a larger one."""
    log = begin()
    for _ in range(3):
        log.produce(batch(40, 70))
    log.close()
    assert log.entries(0, TIME_INDEX) == [(70, 1)]
    log.open()


def test_batches_without_times_leave_the_time_index_empty(begin: Begin, batch: MakeBatch) -> None:
    """TimeIndex.maybeAppend: -1 is not larger than the -1 of an empty index."""
    log = begin()
    for _ in range(3):
        log.produce(batch(-1))
    log.close()
    assert log.entries(0, TIME_INDEX) == []
    assert len(log.entries(0, INDEX)) == 2
    log.open()


def test_a_roll_notes_the_largest_time(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.onBecomeInactiveSegment: retention and lookups by time ask the last entry, so it
    is added whatever the interval. Both indexes are cut to their entries.
    """
    size = len(batch(5))
    log = begin(segment_bytes=2 * size, index_interval_bytes=4096)
    for timestamp in (30, 20, 10):
        log.produce(batch(timestamp))
    assert log.entries(0, TIME_INDEX) == [(30, 0)]
    assert log.entries(0, INDEX) == []


def test_a_roll_repeats_no_entry(begin: Begin, batch: MakeBatch) -> None:
    """TimeIndex.maybeAppend: the entry that rolling would add may be there already."""
    size = len(batch(5))
    log = begin(segment_bytes=2 * size)
    for timestamp in (10, 20, 30):
        log.produce(batch(timestamp))
    assert log.entries(0, TIME_INDEX) == [(20, 1)]


def test_a_clean_stop_notes_the_largest_time(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.close, and AbstractIndex.close: as a roll does. The next start makes room again,
    and the batches after it go on behind the entry.
    """
    log = begin(index_interval_bytes=4096)
    log.produce(batch(30))
    log.produce(batch(20))
    log.close()
    assert log.entries(0, TIME_INDEX) == [(30, 0)]
    log.open()
    log.produce(batch(40))
    log.close()
    assert log.entries(0, TIME_INDEX) == [(30, 0), (40, 2)]
    log.open()


def test_one_slot_of_the_time_index_stays_free(begin: Begin, batch: MakeBatch) -> None:
    """TimeIndex.isFull: the entry that a roll adds needs its place. 60 bytes are room for five
    entries of times, or for seven of offsets.
    """
    log = begin(index_max_bytes=60)
    for timestamp in range(10, 70, 10):
        log.produce(batch(timestamp))
    assert log.files(".log") == [0, 5]
    assert log.entries(0, TIME_INDEX) == [(20, 1), (30, 2), (40, 3), (50, 4)]


def test_a_full_offset_index_rolls(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.shouldRoll, OffsetIndex.isFull: entries of 8 bytes, seven in 60."""
    log = begin(index_max_bytes=60)
    for _ in range(9):
        log.produce(batch(5))
    assert log.files(".log") == [0, 8]
    assert len(log.entries(0, INDEX)) == 7


def test_truncation_cuts_the_entries_of_what_went(begin: Begin, batch: MakeBatch) -> None:
    """OffsetIndex.truncateTo, TimeIndex.truncateTo: entries at the offset or beyond go. The largest
    time is then what is left (LogSegment.readLargestTimestamp), batches without entry included.
    """
    log = begin()
    for timestamp in (10, 20, 90, 30):
        log.produce(batch(timestamp))
    log.truncate(2)
    assert log.offset_of_max_timestamp() == (20, 1)
    log.produce(batch(15))
    log.produce(batch(25))
    log.close()
    # After a truncation the interval counts anew, too.
    assert [offset for offset, _ in log.entries(0, INDEX)] == [1, 3]
    assert log.entries(0, TIME_INDEX) == [(20, 1), (25, 3)]
    log.open()


@pytest.mark.parametrize("suffix", [INDEX, TIME_INDEX])
def test_an_index_without_entries_is_sound(suffix: str, begin: Begin, batch: MakeBatch) -> None:
    """AbstractIndex: a sealed index may have 0 bytes, as small segments have it."""
    size = len(batch(-1))
    log = begin(segment_bytes=size)
    log.produce(batch(-1))
    log.produce(batch(-1))
    assert log.entries(0, suffix) == []
    log.reopen()
    assert log.entries(0, suffix) == []
    assert log.log.read(0, 1_000, up_to=2).first_offset == 0


@pytest.mark.parametrize("interval_bytes", [1, 4096])
def test_a_missing_index_is_built_anew_after_a_clean_stop_too(
    interval_bytes: int, begin: Begin, batch: MakeBatch
) -> None:
    """LogLoader.loadSegmentFiles: without its .index a segment is recovered, as after a crash,
    and its largest time noted as by a roll.
    """
    size = len(batch(5))
    log = begin(segment_bytes=3 * size, index_interval_bytes=interval_bytes)
    for timestamp in (10, 30, 20, 40, 50):
        log.produce(batch(timestamp))
    log.close()
    before = log.entries(0, INDEX), log.entries(0, TIME_INDEX)
    log.remove(f"{0:020d}{INDEX}")
    log.open()
    log.compare()
    assert (log.entries(0, INDEX), log.entries(0, TIME_INDEX)) == before
