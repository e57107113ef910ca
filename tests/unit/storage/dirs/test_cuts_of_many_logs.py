"""Logs that are truncated together: their checkpoints are lowered first, in one write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk

MANY = 20
CHECKPOINTS = ("recovery-point-offset-checkpoint", "cleaner-offset-checkpoint")
OPTIONS = LogDirOptions(1, "cluster", 0, lambda _topic: LogConfig())
MakeBatch = Callable[..., memoryview]


@pytest.fixture
def log_dir(disk: MemoryDisk, make_batch: MakeBatch) -> LogDir:
    """Its logs have two batches of five records, synced and cleaned, which the checkpoints say."""
    log_dir = open_log_dir(disk, "/data", OPTIONS)
    for index in range(MANY):
        log = log_dir.create_log("orders", index, bytes(16), LogConfig())
        for _ in range(2):
            log.stage_as_leader(make_batch(5), 0, 0)
        log.commit()
        log.sync()
        log.cleaning.cleaned_to = 10
    log_dir.offsets.write_all()
    disk.faults.keep_history = True
    return log_dir


def written(disk: MemoryDisk) -> list[str]:
    """The checkpoints that were written, in order."""
    renamed = [line for line in disk.faults.history if line.startswith("rename /data/")]
    return [name for line in renamed for name in CHECKPOINTS if name in line]


def cuts(log_dir: LogDir, offset: int) -> list[tuple[Log, int]]:
    return [(log, offset) for log in log_dir.logs.values()]


def test_many_cuts_write_each_checkpoint_once(log_dir: LogDir, disk: MemoryDisk) -> None:
    log_dir.prepare_cuts(cuts(log_dir, 5))
    assert written(disk) == list(CHECKPOINTS)
    for log, offset in cuts(log_dir, 5):
        assert log.truncate_to(offset) == 5
    assert written(disk) == list(CHECKPOINTS)


def test_many_restarts_write_each_checkpoint_once(log_dir: LogDir, disk: MemoryDisk) -> None:
    for log in log_dir.logs.values():
        log.raise_start(5, 10)
    log_dir.prepare_cuts(cuts(log_dir, 0))
    for log, offset in cuts(log_dir, 0):
        assert log.truncate_to(offset) == 0
    assert written(disk) == list(CHECKPOINTS)


def test_nothing_is_written_where_nothing_is_cut(log_dir: LogDir, disk: MemoryDisk) -> None:
    log_dir.prepare_cuts(cuts(log_dir, 10))
    assert written(disk) == []


def test_a_cut_below_what_was_prepared_writes_its_own(log_dir: LogDir, disk: MemoryDisk) -> None:
    log_dir.prepare_cuts(cuts(log_dir, 7))  # amid the second batch, which goes as a whole
    log_dir.logs[TopicPartition("orders", 0)].truncate_to(7)
    assert written(disk) == 2 * list(CHECKPOINTS)


def test_after_a_refused_write_no_log_is_cut_without_one(log_dir: LogDir, disk: MemoryDisk) -> None:
    disk.fail_at(1, OSError(5, "input/output error"))
    with pytest.raises(StorageError):
        log_dir.prepare_cuts(cuts(log_dir, 5))
    log_dir.logs[TopicPartition("orders", 0)].truncate_to(5)
    assert written(disk) == list(CHECKPOINTS)


def test_a_directory_that_refuses_is_told_of(log_dir: LogDir, disk: MemoryDisk) -> None:
    log_dirs = LogDirs([log_dir])
    failed: list[str] = []
    log_dirs.on_failure = lambda path, _why: failed.append(path)
    disk.fail_at(1, OSError(5, "input/output error"))
    log_dirs.prepare_cuts(cuts(log_dir, 5))
    assert failed == ["/data"]


def test_no_log_is_cut_below_what_the_checkpoint_says_of_it(
    log_dir: LogDir, disk: MemoryDisk
) -> None:
    points: list[set[int]] = []

    def look(operation: str, path: str) -> None:
        if operation == "truncate" and path.endswith(".log"):
            points.append(set(log_dir.offsets.files.read(CHECKPOINTS[0]).values()))

    disk.faults.watcher = look
    log_dir.prepare_cuts(cuts(log_dir, 5))
    for log, offset in cuts(log_dir, 5):
        log.truncate_to(offset)
    assert points == MANY * [{5}]
