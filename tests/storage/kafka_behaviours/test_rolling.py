"""When Kafka begins a new segment, and what it is called."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]
MAX_RELATIVE_OFFSET = 2**31 - 1


def test_a_larger_timestamp_rolls(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.timeWaitedForRoll: what counts is the batch's largest time against that of the
    segment's first batch, not the clock. It must be more than segment.ms.
    """
    log = begin(segment_ms=100)
    log.produce(batch(1_000, 1_050))
    log.now_ms += 1_000_000
    log.produce(batch(1_150))
    log.produce(batch(1_000, 1_151))
    assert log.files(".log") == [0, 3]


def test_older_timestamps_never_roll(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.timeWaitedForRoll is negative for them; a later batch in between changes nothing
    of what the first batch said.
    """
    log = begin(segment_ms=100)
    for timestamp in (1_000, 5, 1_100, 0):
        log.produce(batch(timestamp))
    assert log.files(".log") == [0]


def test_the_first_batchs_time_outlives_a_restart(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.loadFirstBatchTimestamp reads it from the file."""
    log = begin(segment_ms=100)
    log.produce(batch(1_000))
    log.produce(batch(1_090))
    log.reopen()
    log.produce(batch(1_101))
    assert log.files(".log") == [0, 2]


def test_without_a_first_time_the_segments_own_age_counts(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.timeWaitedForRoll: now - created, whatever times come after the first batch."""
    log = begin(segment_ms=100)
    log.produce(batch(-1))
    log.produce(batch(START_MS + 10**9))
    log.now_ms += 101
    log.produce(batch(-1))
    assert log.files(".log") == [0, 2]


def test_a_rolled_segment_ages_from_its_roll(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.created is the time at which it was rolled, be its first batch later."""
    size = len(batch(-1))
    log = begin(segment_ms=100, segment_bytes=2 * size)
    log.produce(batch(-1))
    log.produce(batch(-1))
    log.produce(batch(-1))
    log.now_ms += 101
    log.produce(batch(-1))
    assert log.files(".log") == [0, 2, 3]


def test_a_segment_may_be_full_to_the_byte(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.shouldRoll: size > segment.bytes - size of the batch."""
    size = len(batch(5))
    log = begin(segment_bytes=2 * size)
    for _ in range(3):
        log.produce(batch(5))
    assert log.files(".log") == [0, 2]


def test_an_empty_segment_never_makes_way_for_its_own_name(begin: Begin, batch: MakeBatch) -> None:
    """KAFKA-6388, LocalLog.roll: an index with no room for entries is always full, and asks for a
    roll of a segment in which nothing is yet. No two segments begin at one offset.
    """
    log = begin(index_max_bytes=12)  # one entry of times, which is kept free
    for _ in range(3):
        log.produce(batch(5))
    assert log.files(".log") == [0, 1, 2]


def test_the_last_offset_that_fits_is_2_31_minus_1_after_the_base(
    begin: Begin, batch: MakeBatch
) -> None:
    """AbstractIndex.toRelative: relative offsets are int32, of a batch's last offset."""
    log = begin()
    log.replicate(batch(5, epoch=0))
    log.replicate(batch(5, offset=MAX_RELATIVE_OFFSET, epoch=0))
    assert log.files(".log") == [0]


@pytest.mark.parametrize("gap", [0, 1_000])
def test_a_relative_offset_that_overflows_rolls(gap: int, begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.canConvertToRelativeOffset; UnifiedLog.maybeRoll: the new segment begins with the
    batch, not at the log's end, from where its offsets might not fit either (KAFKA-6264).
    """
    offset = MAX_RELATIVE_OFFSET + gap
    log = begin(compacted=True)
    log.replicate(batch(5, epoch=0))
    log.replicate(batch(5, 6, offset=offset, epoch=0))
    assert log.files(".log") == [0, offset]
    assert log.files(".snapshot") == [offset]


def test_a_gap_that_compaction_left_ends_before_the_new_segment(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.maybeRoll: a follower's segment is called after its first batch."""
    size = len(batch(5))
    log = begin(segment_bytes=size, compacted=True)
    log.replicate(batch(5, epoch=0))
    log.replicate(batch(5, offset=10, epoch=0))
    assert log.files(".log") == [0, 10]


def test_a_roll_writes_what_is_known_of_producers(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.roll: the snapshot is as of the segment's base offset, without the batch that made
    it roll.
    """
    size = len(batch(5, pid=7, sequence=0))
    log = begin(segment_bytes=size)
    for sequence in range(3):
        log.produce(batch(5, pid=7, sequence=sequence))
    assert log.files(".snapshot") == [1, 2]


def test_a_transaction_is_listed_where_its_marker_lies(
    begin: Begin, batch: MakeBatch, abort: Callable[..., bytes]
) -> None:
    """UnifiedLog.append: .txnindex of the segment of the marker, which the marker may have rolled;
    the file of a segment without aborted transactions does not exist.
    """
    data = batch(5, pid=7, sequence=0, flags=0x10)
    log = begin(segment_bytes=len(data))
    log.produce(data)
    log.produce(abort(7), coordinator=True)
    assert log.files(".log") == [0, 1]
    assert log.files(".txnindex") == [1]
