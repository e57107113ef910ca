"""Which segments retention takes, and where the log starts then."""

from __future__ import annotations

from collections.abc import Callable

from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]


def test_as_much_as_retention_bytes_stays(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.deleteRetentionSizeBreachedSegments: a segment goes if the log is still as large
    as retention.bytes without it.
    """
    size = len(batch(5))
    log = begin(segment_bytes=size, retention_bytes=2 * size, retention_ms=-1)
    for _ in range(4):
        log.produce(batch(5))
    log.retain()
    assert log.files(".log") == [2, 3]
    assert log.log.start_offset == 2


def test_a_segment_is_as_old_as_its_newest_record(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.deleteRetentionMsBreachedSegments: the first segment that is not old enough keeps
    all later ones, however old they are. It must be older than retention.ms.
    """
    log = begin(segment_bytes=len(batch(START_MS, 5)), retention_ms=100)
    log.produce(batch(START_MS - 101))
    log.produce(batch(START_MS - 100))
    log.produce(batch(START_MS - 500))
    log.produce(batch(START_MS - 500))
    log.retain()
    assert log.files(".log")[0] != 0
    assert log.log.start_offset == 1


def test_where_everything_is_too_old_an_empty_segment_stays(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.deleteSegments: rolls first; offsets go on where they were."""
    log = begin(retention_ms=100)
    log.produce(batch(START_MS - 500, START_MS - 500))
    log.retain()
    assert log.files(".log") == [2]
    assert (log.log.start_offset, log.log.end_offset) == (2, 2)
    log.retain()
    assert log.files(".log") == [2]


def test_what_lies_before_the_log_start_goes_without_any_retention(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.deleteLogStartOffsetBreachedSegments: whole segments before the start; not the one
    in which it lies, and never the active one.
    """
    log = begin(segment_bytes=2 * len(batch(5)), retention_ms=-1, compacted=True)
    log.produce(batch(5))
    for _ in range(5):
        log.produce(batch(5))
    log.raise_start(3)
    log.retain()
    assert log.files(".log") == [2, 4]
    log.raise_start(6)
    log.retain()
    assert log.files(".log") == [4]
    assert log.log.start_offset == 6


def test_a_deleted_segments_snapshot_goes_with_it(begin: Begin, batch: MakeBatch) -> None:
    """UnifiedLog.deleteProducerSnapshots; the one at the new start stays until the next start."""
    size = len(batch(5))
    log = begin(segment_bytes=size, retention_bytes=2 * size, retention_ms=-1)
    for _ in range(4):
        log.produce(batch(5))
    log.retain()
    assert log.files(".snapshot") == [2, 3]
    log.reopen()
    assert log.files(".snapshot") == [3, 4]


def test_the_epoch_of_what_was_deleted_begins_with_what_is_left(
    begin: Begin, batch: MakeBatch
) -> None:
    """UnifiedLog.maybeIncrementLogStartOffset, LeaderEpochFileCache.truncateFromStart."""
    size = len(batch(5))
    log = begin(segment_bytes=size, retention_bytes=size, retention_ms=-1)
    for _ in range(3):
        log.produce(batch(5))
    log.retain()
    assert (log.ours / "leader-epoch-checkpoint").read_text() == "0\n1\n0 2\n"
