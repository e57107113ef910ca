"""Lookups by time, as ListOffsets asks for them, and batches whose times are unusual."""

from __future__ import annotations

from collections.abc import Callable

from logquake.storage.log_config import TimestampType
from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]
TIME_INDEX = ".timeindex"


def test_an_empty_batch_keeps_its_time(begin: Begin, batch: MakeBatch) -> None:
    """DefaultRecordBatch.writeEmptyHeader, which MemoryRecords.filterTo calls for the last batch
    of a producer: the largest time of the records that went is in the header still, and counts in
    the time index, though no record has it.
    """
    log = begin(compacted=True)
    log.replicate(batch(100, epoch=0))
    empty = {"last_offset": 4, "max_timestamp": 900}
    log.replicate(batch(offset=1, pid=7, sequence=0, epoch=0, **empty))
    log.replicate(batch(300, offset=5, epoch=0))
    assert log.offset_for_time(200) == (300, 5)
    assert log.offset_for_time(301) is None
    assert log.offset_of_max_timestamp() is None
    log.close()
    assert log.entries(0, TIME_INDEX) == [(900, 4)]
    log.open()


def test_the_first_of_equal_times_is_found(begin: Begin, batch: MakeBatch) -> None:
    """FileRecords.searchForTimestamp: the first record that is as late, within a batch too."""
    log = begin()
    log.produce(batch(10, 20, 20))
    log.produce(batch(20, 20))
    assert log.offset_for_time(20) == (20, 1)
    assert log.offset_for_time(11) == (20, 1)
    assert log.offset_of_max_timestamp() == (20, 1)


def test_times_that_go_back_are_found_by_offset(begin: Begin, batch: MakeBatch) -> None:
    """KIP-79: the first record, by offset, whose time is not earlier; its time may be much later.
    The search begins at the last index entry that is not later.
    """
    log = begin()
    for timestamp in (50, 90, 60, 70, 95):
        log.produce(batch(timestamp))
    assert log.offset_for_time(55) == (90, 1)
    assert log.offset_for_time(91) == (95, 4)


def test_records_before_the_log_start_are_not_found(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.searchOffsetInLocalLog searches from the log's start, which may lie in a batch."""
    log = begin()
    log.produce(batch(50, 60, 40))
    log.produce(batch(55))
    log.raise_start(2)
    assert log.offset_for_time(45) == (55, 3)


def test_only_the_first_segment_that_is_late_enough_is_searched(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.searchOffsetInLocalLog: the segment is chosen by its largest time. If that record
    lies before the log's start, nothing is found, whatever the later segments hold.
    """
    log = begin(segment_bytes=len(batch(99, 10)))
    log.produce(batch(99, 10))
    log.produce(batch(50, 50))
    log.raise_start(1)
    assert log.offset_for_time(20) is None


def test_with_append_times_the_whole_batch_has_one_time(begin: Begin, batch: MakeBatch) -> None:
    """LogValidator, DefaultRecordBatch.setMaxTimestamp: the header's time is that of all records,
    which keep their producer's times unseen.
    """
    log = begin(message_timestamp_type=TimestampType.LOG_APPEND_TIME)
    log.produce(batch(5, 7))
    log.now_ms += 10
    log.produce(batch(10**15, 1))
    assert log.offset_for_time(START_MS) == (START_MS, 0)
    assert log.offset_for_time(START_MS + 1) == (START_MS + 10, 2)
    assert log.offset_of_max_timestamp() == (START_MS + 10, 2)
    log.close()
    assert log.entries(0, TIME_INDEX) == [(START_MS + 10, 3)]
    log.open()


def test_the_largest_time_may_lie_in_an_older_segment(begin: Begin, batch: MakeBatch) -> None:
    """KIP-734, UnifiedLog.fetchOffsetByTimestamp: of the first segment with the largest time."""
    size = len(batch(5))
    log = begin(segment_bytes=size)
    for timestamp in (10, 90, 40, 90):
        log.produce(batch(timestamp))
    assert log.offset_of_max_timestamp() == (90, 1)
    log.reopen()
    assert log.offset_of_max_timestamp() == (90, 1)


def test_a_wrong_largest_time_of_a_producer_is_put_right(begin: Begin, batch: MakeBatch) -> None:
    """LogValidator reads the records' times, and writes the largest into the header."""
    log = begin()
    log.produce(batch(10, 20, 15, max_timestamp=9_999))
    assert log.offset_of_max_timestamp() == (20, 1)
    assert log.offset_for_time(21) is None


def test_a_log_without_records_has_no_times(begin: Begin) -> None:
    log = begin()
    assert log.offset_for_time(0) is None
    assert log.offset_of_max_timestamp() is None
