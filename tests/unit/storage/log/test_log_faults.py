"""What single faults of the disk leave of a log."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from tests.doubles.memory_disk import MemoryDisk

OpenLog = Callable[..., Log]
MakeBatch = Callable[..., memoryview]
EIO = OSError(errno.EIO, "input/output error")
FULL = OSError(errno.ENOSPC, "no space left")


def append(log: Log, *batches: memoryview, epoch: int = 0) -> None:
    for batch in batches:
        log.stage_as_leader(batch, epoch, 0)
    log.commit()


def test_a_batch_that_cannot_be_staged_for_the_disk_is_a_storage_error(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    """Whether the log must roll depends on the segment's first batch, which is read once."""
    log = open_log()
    append(log, make_batch())
    log.close(clean=True)
    log = open_log()
    disk.fail_read_at(1, EIO)
    with pytest.raises(StorageError, match="input/output error"):
        log.stage_as_leader(make_batch(), 3, 0)
    assert (log.end_offset, log.epochs.latest) == (1, 0)
    append(log, make_batch(), epoch=3)
    assert (log.end_offset, log.epochs.latest) == (2, 3)


def test_a_damaged_first_batch_does_not_hinder_an_append(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log(LogConfig(index_interval_bytes=1))
    append(log, *(make_batch() for _ in range(3)))
    log.close(clean=True)
    log = open_log()
    disk.open("/data/t-0/00000000000000000000.log").pwritev([b"\xff"], 16)
    append(log, make_batch())
    assert log.end_offset == 4


def test_a_roll_that_fails_leaves_no_segment_behind(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    """At the next start the log would seem to go on there, over what was appended since."""
    config = LogConfig(segment_bytes=400)
    batch_bytes = len(make_batch(2))
    filled = 400 // batch_bytes
    for call in range(2, 10):
        log = open_log(config)
        append(log, *(make_batch(2) for _ in range(filled - 1)))
        for _ in range(2):
            log.stage_as_leader(make_batch(2), 0, 0)
        disk.fail_at(call, FULL)
        with pytest.raises(StorageError, match="no space left"):
            log.commit()
        append(log, *(make_batch(1) for _ in range(3)))
        end_offset = log.end_offset
        held = [header.base_offset for header in log.headers(0)]
        log.close(clean=True)
        log = open_log(config)
        assert log.end_offset == end_offset
        assert [header.base_offset for header in log.headers(0)] == held
        log.close(clean=False)
        disk.remove_tree("/data/t-0")


def test_an_index_that_could_not_be_read_is_read_again(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    config = LogConfig(segment_bytes=400)
    log = open_log(config)
    append(log, *(make_batch(2, timestamp_ms=1_000 * number) for number in range(8)))
    log.close(clean=True)
    expected = (3_000, 6)
    for call in range(1, 40):
        log = open_log(config)
        disk.fail_read_at(call, EIO)
        try:
            assert log.offset_for_time(3_000) == expected
        except StorageError:
            assert log.offset_for_time(3_000) == expected
        else:
            break
    assert call > 5


def test_while_a_failed_write_cannot_be_undone_nothing_is_served(
    disk: MemoryDisk, open_log: OpenLog, make_batch: MakeBatch
) -> None:
    log = open_log()
    append(log, make_batch(2))
    log.stage_as_leader(make_batch(), 0, 0)
    disk.fail_at(1, EIO, lasting=True)
    for _ in range(2):
        with pytest.raises(StorageError):
            log.commit()
        with pytest.raises(StorageError):
            log.read(0, 1, up_to=1)
    disk.heal()
    with pytest.raises(StorageError):
        log.commit()
    assert [header.next_offset for header in log.headers(0)] == [2]
