"""Which segments leave a log, and what becomes of their files (UnifiedLog.deleteOldSegments)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from errno import EIO

import pytest

from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
KEEP_ALL = LogConfig(segment_bytes=300, retention_ms=-1)


@pytest.fixture
def fill(open_log: OpenLog, make_batch: MakeBatch) -> Callable[..., Log]:
    """fill(config, batches): a log with a segment every 10 offsets, a time of 100 ms each."""

    def fill_it(config: LogConfig, batches: int = 5, **offsets: int) -> Log:
        size = len(make_batch(10))
        log = open_log(replace(config, segment_bytes=size), **offsets)
        for number in range(batches):
            log.stage_as_leader(make_batch(10, timestamp_ms=100 * number), number, 0)
        log.commit()
        return log

    return fill_it


Fill = Callable[..., Log]


def base_offsets(disk: MemoryDisk, directory: str) -> list[int]:
    return [int(name[:20]) for name in disk.list(directory) if name.endswith(".log")]


def retired(log: Log, now_ms: int = 0, high_watermark: int | None = None) -> list[int]:
    mark = log.written_end_offset if high_watermark is None else high_watermark
    return [base for one in log.delete_old(now_ms, mark) for base in one.base_offsets]


def test_segments_go_whose_newest_record_is_older_than_retention_ms(
    disk: MemoryDisk, directory: str, fill: Fill
) -> None:
    log = fill(replace(KEEP_ALL, retention_ms=1_000))
    # The newest records are of 9, 109, 209, ... ms; an age of exactly retention.ms is kept.
    assert retired(log, now_ms=1_109) == [0]
    assert (log.start_offset, base_offsets(disk, directory)) == (10, [10, 20, 30, 40])
    assert retired(log, now_ms=1_110) == [10]


def test_a_younger_segment_protects_older_ones_behind_it(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    size = len(make_batch(10))
    log = open_log(LogConfig(segment_bytes=size, retention_ms=100))
    for time_ms in (1_000, 10, 10):
        log.stage_as_leader(make_batch(10, timestamp_ms=time_ms), 0, 0)
    log.commit()
    assert retired(log, now_ms=1_050) == []


def test_where_all_is_old_the_log_rolls_and_ends_up_empty(
    disk: MemoryDisk, directory: str, fill: Fill, make_batch: MakeBatch
) -> None:
    log = fill(replace(KEEP_ALL, retention_ms=100))
    assert retired(log, now_ms=10_000) == [0, 10, 20, 30, 40]
    assert (log.start_offset, log.written_end_offset, log.size) == (50, 50, 0)
    assert base_offsets(disk, directory) == [50]
    assert retired(log, now_ms=20_000) == []  # an empty active segment stays
    log.stage_as_leader(make_batch(), 9, 0)
    log.commit()
    assert log.read(50, 1_000, up_to=51).first_offset == 50


def test_segments_go_while_the_log_has_retention_bytes_without_them(fill: Fill) -> None:
    log = fill(KEEP_ALL)
    size = log.size // 5
    log.reconfigure(replace(log.config, retention_bytes=3 * size + 1))
    assert retired(log) == [0]
    log.reconfigure(replace(log.config, retention_bytes=3 * size))
    assert retired(log) == [10]
    assert retired(log) == []


def test_without_cleanup_policy_delete_only_the_log_start_takes_segments(fill: Fill) -> None:
    log = fill(LogConfig(retention_ms=0, retention_bytes=0, deleted=False, compacted=True))
    assert retired(log, now_ms=1_000_000) == []
    log.raise_start(25, 50)
    assert retired(log, now_ms=1_000_000) == [0, 10]
    assert log.start_offset == 25


def test_nothing_at_or_beyond_the_high_watermark_goes(fill: Fill) -> None:
    log = fill(replace(KEEP_ALL, retention_ms=0))
    assert retired(log, now_ms=10_000, high_watermark=29) == [0, 10]
    assert retired(log, now_ms=10_000, high_watermark=29) == []
    assert log.start_offset == 20


def test_a_segment_without_timestamps_ages_by_its_last_write(
    disk: MemoryDisk, directory: str, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    size = len(make_batch(1, timestamp_ms=-1))
    log = open_log(LogConfig(segment_bytes=size, retention_ms=1_000))
    for offset in range(2):
        log.stage_as_follower(
            make_batch(1, timestamp_ms=-1, base_offset=offset, leader_epoch=0), 50_000
        )
    log.commit()
    disk.set_modified_ms(f"{directory}/{0:020d}.log", 50_000)
    disk.set_modified_ms(f"{directory}/{1:020d}.log", 60_000)
    assert retired(log, now_ms=51_000) == []
    assert retired(log, now_ms=51_001) == [0]


def test_files_of_a_deleted_segment_wait_for_their_removal(
    disk: MemoryDisk, directory: str, fill: Fill
) -> None:
    log = fill(replace(KEEP_ALL, retention_bytes=0))
    found = log.delete_old(0, 20)
    (deleted,) = found
    marked = [name for name in disk.list(directory) if name.endswith(".deleted")]
    assert marked == [
        f"{base:020d}{suffix}.deleted"
        for base, suffixes in (
            (0, (".index", ".log", ".timeindex")),
            (10, (".index", ".log", ".snapshot", ".timeindex")),
        )
        for suffix in suffixes
    ]
    assert f"{20:020d}.snapshot" in disk.list(directory)
    deleted.files.remove()
    assert not [name for name in disk.list(directory) if name.endswith(".deleted")]


def test_removing_the_files_of_a_partition_that_is_gone_is_no_fault(
    disk: MemoryDisk, directory: str, fill: Fill
) -> None:
    (deleted,) = fill(replace(KEEP_ALL, retention_bytes=0)).delete_old(0, 20)
    disk.remove_tree(directory)
    deleted.files.remove()
    assert not disk.exists(directory)


def test_a_start_removes_what_still_waited(
    disk: MemoryDisk, directory: str, fill: Fill, open_log: OpenLog
) -> None:
    log = fill(replace(KEEP_ALL, retention_bytes=0))
    log.delete_old(0, 30)
    log.close(clean=True)
    again = open_log(log.config)
    assert not [name for name in disk.list(directory) if name.endswith(".deleted")]
    assert (again.start_offset, again.written_end_offset) == (30, 50)


def test_a_read_that_has_begun_outlives_the_deletion(fill: Fill) -> None:
    log = fill(replace(KEEP_ALL, retention_bytes=0))
    begun = log.read(3, 10_000, up_to=50)
    before = begun.read()
    for deleted in log.delete_old(0, 50):
        deleted.files.remove()
    assert begun.read() == before


def test_epochs_that_ended_before_the_start_are_forgotten(fill: Fill) -> None:
    log = fill(replace(KEEP_ALL, retention_bytes=0))  # an epoch every 10 offsets
    log.delete_old(0, 30)
    assert list(log.epochs.entries) == [(3, 30), (4, 40)]


def test_what_is_staged_keeps_the_active_segment(
    disk: MemoryDisk, directory: str, fill: Fill, make_batch: MakeBatch
) -> None:
    log = fill(replace(KEEP_ALL, retention_bytes=0), batches=1)
    log.reconfigure(replace(log.config, segment_bytes=10_000))
    log.stage_as_leader(make_batch(), 0, 0)
    assert retired(log) == []
    log.commit()
    assert base_offsets(disk, directory) == [0]
    assert log.read(10, 1_000, up_to=11).first_offset == 10


def test_a_rolling_that_fails_leaves_the_log_as_it_was(
    disk: MemoryDisk, fill: Fill, make_batch: MakeBatch
) -> None:
    log = fill(replace(KEEP_ALL, retention_ms=0), batches=1)
    disk.fail_at(1, OSError(EIO, "broken"))
    with pytest.raises(StorageError):
        log.delete_old(10_000, 10)
    assert (log.start_offset, log.written_end_offset) == (0, 10)
    log.stage_as_leader(make_batch(), 1, 0)
    log.commit()
    assert [header.base_offset for header in log.headers(0)] == [0, 10]


def test_after_a_roll_for_retention_the_snapshot_at_the_end_stays(
    open_log: OpenLog, make_batch: MakeBatch
) -> None:
    config = LogConfig(retention_bytes=0)
    log = open_log(config)
    log.stage_as_leader(make_batch(3, producer_id=7, producer_epoch=0, base_sequence=0), 0, 0)
    log.commit()
    log.delete_old(0, 3)
    log = open_log(config, clean=False)
    again = make_batch(1, producer_id=7, producer_epoch=0, base_sequence=3)
    assert log.stage_as_leader(again, 0, 0).first_offset == 3
    assert log.producers.get(7) is not None
