"""What a start makes of the files that it finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.log_config import LogConfig
from tests.doubles.memory_disk import MemoryDisk
from tests.storage.lone_log import START_MS, LoneLog

Begin = Callable[..., LoneLog]
MakeBatch = Callable[..., bytes]


def name(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


@pytest.fixture
def four(begin: Begin, batch: MakeBatch) -> LoneLog:
    """Four segments of a batch each, stopped in order."""
    log = begin(segment_bytes=len(batch(START_MS, pid=7, sequence=0)))
    for sequence in range(4):
        log.produce(batch(START_MS, pid=7, sequence=sequence))
    log.close()
    return log


def test_the_marker_of_a_clean_stop_is_taken_away_at_once() -> None:
    """LogManager.loadLogs, KAFKA-10471: a crash while logs are loaded must not look clean."""
    disk = MemoryDisk()
    options = LogDirOptions(1, "cluster", START_MS, lambda _: LogConfig())
    open_log_dir(disk, "/data", options).close(clean=True)
    assert disk.exists("/data/.kafka_cleanshutdown")
    opened = open_log_dir(disk, "/data", options)
    assert opened.was_clean
    assert not disk.exists("/data/.kafka_cleanshutdown")
    opened.close(clean=False)


def test_deleted_files_are_removed(four: LoneLog) -> None:
    """LogLoader.removeTempFilesAndCollectSwapFiles."""
    four.write(name(0, ".log.deleted"), b"gone")
    four.open()
    assert not (four.ours / name(0, ".log.deleted")).exists()


def test_what_a_cleaning_did_not_finish_is_removed(four: LoneLog) -> None:
    """LogLoader.removeTempFilesAndCollectSwapFiles: .cleaned, and every .swap not before it, which
    is a part of the same whole (KAFKA-6264).
    """
    content = (four.ours / name(2, ".log")).read_bytes()
    four.write(name(1, ".log.cleaned"), b"half")
    four.write(name(2, ".log.swap"), content)
    four.open()
    assert four.files(".log") == [0, 1, 2, 3]
    assert [path.name for path in four.ours.iterdir() if path.suffix in (".swap", ".cleaned")] == []


def test_a_swap_is_finished(four: LoneLog) -> None:
    """LogLoader.load: segments from the swapped one's base to its end make way for it."""
    merged = b"".join((four.ours / name(base, ".log")).read_bytes() for base in (1, 2))
    four.write(name(1, ".log.swap"), merged)
    for suffix in (".index.swap", ".timeindex.swap"):
        four.write(name(1, suffix), b"")
    four.open()
    four.compare()
    assert four.files(".log") == [0, 1, 3]
    assert (four.ours / name(1, ".log")).read_bytes() == merged


def test_an_index_without_its_log_is_removed(four: LoneLog) -> None:
    """LogLoader.loadSegmentFiles: orphans of a deletion that was cut short."""
    for suffix in (".index", ".timeindex", ".txnindex"):
        four.write(name(9, suffix), bytes(96))
    four.open()
    assert four.files(".index") == [0, 1, 2, 3]
    assert four.files(".txnindex") == []


def test_zeros_behind_the_last_batch_are_cut_off(four: LoneLog) -> None:
    """LogSegment.recover: where the size reached the disk and the bytes did not."""
    size = (four.ours / name(3, ".log")).stat().st_size
    four.extend(name(3, ".log"), 200)
    four.open(clean=False)
    assert four.log.end_offset == 4
    assert (four.ours / name(3, ".log")).stat().st_size == size


def test_a_torn_batch_ends_the_log(four: LoneLog) -> None:
    """LogLoader.recoverLog: later segments go, with their snapshots."""
    four.extend(name(1, ".log"), -1)
    four.open(clean=False)
    assert four.log.end_offset == 1
    assert four.files(".log") == [0, 1]
    assert four.files(".snapshot") == [1]


def test_what_lies_before_the_recovery_point_is_not_looked_at(four: LoneLog) -> None:
    """LogLoader.recoverLog begins with the segment of the recovery point."""
    path = name(0, ".log")
    damaged = bytearray((four.ours / path).read_bytes())
    damaged[-1] ^= 1
    four.write(path, bytes(damaged))
    four.open(clean=False, recovery_point=2)
    assert (four.log.start_offset, four.log.end_offset) == (0, 4)


def test_a_log_that_ends_before_its_start_begins_anew_there(four: LoneLog) -> None:
    """LogLoader.deleteSegmentsIfLogStartGreaterThanLogEnd: somebody removed segments."""
    for base in (2, 3):
        for suffix in (".log", ".index", ".timeindex"):
            four.remove(name(base, suffix))
    four.open(log_start=3)
    assert (four.log.start_offset, four.log.end_offset) == (3, 3)
    assert four.files(".log") == [3]


def test_missing_first_segments_raise_the_start(four: LoneLog) -> None:
    """LogLoader.load: max(checkpoint, base offset of the first segment)."""
    for suffix in (".log", ".index", ".timeindex"):
        four.remove(name(0, suffix))
    four.write("leader-epoch-checkpoint", b"0\n1\n0 1\n")  # as retention leaves it
    four.open()
    four.compare()
    assert four.log.start_offset == 1


def test_an_index_may_be_larger_than_indexes_are_now(begin: Begin, batch: MakeBatch) -> None:
    """AbstractIndex: a file that exists is as large as it is, whatever segment.index.bytes says;
    a sealed one is never resized.
    """
    log = begin(segment_bytes=8 * len(batch(5)), index_max_bytes=10_000)
    for timestamp in range(10):
        log.produce(batch(timestamp))
    log.close()
    log.config = LogConfig(index_interval_bytes=1, index_max_bytes=24)
    log.open()
    assert len(log.entries(0, ".index")) == 7
    assert log.log.read(7, 100, up_to=10).first_offset == 7


def test_more_entries_than_an_index_may_have_now_are_kept(tmp_path: Path, batch: MakeBatch) -> None:
    """LogLoader.load resizes the active segment's indexes; Kafka cannot start where they have more
    entries than fit (AbstractIndex.resize). Here they stay, and the segment rolls.
    """
    log = LoneLog(tmp_path, LogConfig(index_interval_bytes=1))
    for timestamp in range(10):
        log.produce(batch(timestamp))
    log.close()
    log.config = LogConfig(index_interval_bytes=1, index_max_bytes=24)
    log.open()
    log.produce(batch(10))
    assert log.files(".log") == [0, 10]
    assert [offset for offset, _ in log.entries(0, ".index")] == list(range(1, 10))
    assert [offset for _, offset in log.entries(0, ".timeindex")] == list(range(1, 10))
    log.close()


def test_after_a_crash_epochs_are_found_in_the_batches(begin: Begin, batch: MakeBatch) -> None:
    """LogSegment.recover: epochs newer than those in the file, which may lag behind."""
    log = begin()
    for epoch in (1, 3):
        log.lead(epoch)
        log.produce(batch(5), epoch)
    log.crash()
    log.write("leader-epoch-checkpoint", b"0\n1\n1 0\n")
    log.open(clean=False)
    log.compare()
    assert log.epoch_end(1) == (1, 1)


def test_epochs_beyond_the_recovered_end_go(begin: Begin, batch: MakeBatch) -> None:
    """LogLoader.load: leaderEpochCache.truncateFromEnd(nextOffset)."""
    log = begin()
    log.produce(batch(5))
    log.lead(4)
    log.produce(batch(5), 4)
    log.crash()
    log.extend(name(0, ".log"), -1)
    log.open(clean=False)
    log.compare()
    assert log.epoch_end(4) == (-1, -1)


def test_a_log_start_within_a_segment_comes_from_its_checkpoint(
    begin: Begin, batch: MakeBatch
) -> None:
    """LogManager.checkpointLogStartOffsetsInDir writes only starts that the files do not tell."""
    log = begin()
    log.produce(batch(5, 5, 5))
    log.raise_start(2)
    assert log.checkpointed_start == 2
    log.reopen()
    assert log.log.start_offset == 2
