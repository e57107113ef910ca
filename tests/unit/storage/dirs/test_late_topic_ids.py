"""A topic id is written after its log was made, and before anything that it tells of."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.partition_metadata import read_topic_id
from tests.doubles.memory_disk import MemoryDisk, Unsynced

TOPIC_ID, LATER_ID = b"earlier".ljust(16, b"-"), b"later".ljust(16, b"-")
FOLDER = "/data/orders-0"
POWER_LOSSES = (Unsynced.LOST, Unsynced.JOURNALED, Unsynced.SCATTERED)


def open_dir(disk: MemoryDisk) -> LogDir:
    return open_log_dir(disk, "/data", LogDirOptions(1, "cluster", 0, lambda _topic: LogConfig()))


def create(log_dir: LogDir, topic_id: bytes = TOPIC_ID) -> Log:
    return log_dir.create_log("orders", 0, topic_id, LogConfig())


@pytest.fixture
def disk() -> MemoryDisk:
    return MemoryDisk()


@pytest.fixture
def log_dir(disk: MemoryDisk) -> LogDir:
    """Open; what happens from here on is in the disk's history."""
    opened = open_dir(disk)
    disk.faults.keep_history = True
    return opened


def test_a_log_is_made_and_led_without_a_sync(log_dir: LogDir, disk: MemoryDisk) -> None:
    log = create(log_dir)
    log.epochs.assign(3, 0)
    log.commit()
    assert log.topic_id == TOPIC_ID
    assert not [line for line in disk.faults.history if line.startswith("sync")]


@pytest.mark.parametrize("loss", POWER_LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_records_are_never_without_their_topic_id(
    log_dir: LogDir,
    disk: MemoryDisk,
    make_batch: Callable[..., memoryview],
    loss: Unsynced,
    seed: int,
) -> None:
    log = create(log_dir)
    disk.sync_dir("/data")
    log.stage_as_leader(make_batch(4), 0, 0)
    log.commit()
    disk.crash(loss, Random(seed))
    found = open_dir(disk).log("orders", 0)
    assert found is not None
    assert found.topic_id == TOPIC_ID


def test_where_a_log_begins_anew_is_not_without_its_topic_id(
    log_dir: LogDir, disk: MemoryDisk
) -> None:
    create(log_dir).truncate_fully_and_start_at(500)
    assert read_topic_id(disk, FOLDER) == TOPIC_ID


def test_records_whose_topic_id_cannot_be_written_are_not_either(
    log_dir: LogDir, disk: MemoryDisk, make_batch: Callable[..., memoryview]
) -> None:
    log = create(log_dir)
    log.stage_as_leader(make_batch(4), 0, 0)
    disk.fail_at(1, OSError(5, "input/output error"))
    with pytest.raises(StorageError):
        log.commit()
    assert (log.written_end_offset, log.size) == (0, 0)
    log.stage_as_leader(make_batch(4), 0, 0)
    log.commit()
    assert read_topic_id(disk, FOLDER) == TOPIC_ID


def test_a_topic_id_is_written_once(log_dir: LogDir, disk: MemoryDisk) -> None:
    log = create(log_dir)
    for _ in range(2):
        log.write_topic_id()
    assert sum("rename" in line for line in disk.faults.history) == 1


def test_a_late_write_spares_the_next_topic_of_the_name(log_dir: LogDir, disk: MemoryDisk) -> None:
    deleted = create(log_dir)
    log_dir.delete_log("orders", 0)
    create(log_dir, LATER_ID).write_topic_id()
    deleted.write_topic_id()
    assert read_topic_id(disk, FOLDER) == LATER_ID


def test_a_log_that_is_set_aside_takes_its_topic_id_along(
    log_dir: LogDir, disk: MemoryDisk
) -> None:
    create(log_dir)
    assert read_topic_id(disk, log_dir.set_aside("orders", 0)) == TOPIC_ID


def test_a_stop_in_order_writes_the_topic_id(log_dir: LogDir, disk: MemoryDisk) -> None:
    create(log_dir)
    log_dir.close(clean=True)
    assert read_topic_id(disk, FOLDER) == TOPIC_ID
