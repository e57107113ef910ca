from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import LogDirError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk, Unsynced

TOPIC_ID = bytes(range(16))
MakeBatch = Callable[..., memoryview]
OPTIONS = LogDirOptions(1, "cluster", 0, lambda _topic: LogConfig(), unique=lambda: "ab" * 16)


def open_dir(disk: MemoryDisk) -> LogDir:
    return open_log_dir(disk, "/data", OPTIONS)


def filled_log(log_dir: LogDir, make_batch: MakeBatch) -> Log:
    """Of orders-0, with four records."""
    log = log_dir.create_log("orders", 0, TOPIC_ID, LogConfig())
    log.stage_as_leader(make_batch(4), 0, 0)
    log.commit()
    return log


def test_a_second_broker_is_kept_out_of_the_directory(disk: MemoryDisk) -> None:
    log_dir = open_dir(disk)
    with pytest.raises(LogDirError, match=r"^/data is in use by another broker: "):
        open_dir(disk)
    log_dir.close(clean=True)
    open_dir(disk)


def test_a_refused_directory_is_left_unlocked(disk: MemoryDisk) -> None:
    open_dir(disk).close(clean=True)
    other = LogDirOptions(2, "cluster", 0, OPTIONS.config_of)
    with pytest.raises(LogDirError, match="belongs to broker 1"):
        open_log_dir(disk, "/data", other)
    open_dir(disk)


def test_logs_come_back_with_topic_ids_and_offsets(disk: MemoryDisk, make_batch: MakeBatch) -> None:
    log_dir = open_dir(disk)
    log = log_dir.create_log("orders", 3, TOPIC_ID, LogConfig())
    log.stage_as_leader(make_batch(4), 0, 0)
    log.commit()
    log_dir.offsets.write_high_watermarks({TopicPartition("orders", 3): 2})
    metadata = disk.read("/data/orders-3/partition.metadata")
    assert metadata == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    log_dir.close(clean=True)
    again = open_dir(disk)
    assert again.was_clean
    assert again.offsets.high_watermarks() == {("orders", 3): 2}
    found = again.log("orders", 3)
    assert found is not None
    assert (found.topic_id, found.end_offset) == (TOPIC_ID, 4)
    assert again.log("orders", 4) is None


def test_the_clean_marker_is_kafkas_and_counts_once(disk: MemoryDisk) -> None:
    log_dir = open_dir(disk)
    assert not log_dir.was_clean
    log_dir.close(clean=True)
    assert disk.read("/data/.kafka_cleanshutdown") == b'{"version":0,"brokerEpoch":-1}'
    log_dir = open_dir(disk)
    assert log_dir.was_clean
    log_dir.close(clean=False)
    assert not open_dir(disk).was_clean


def test_a_deleted_topic_makes_room_for_one_of_its_name_at_once(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    log_dir = open_dir(disk)
    log = filled_log(log_dir, make_batch)
    piece = log.read(0, 1_000, up_to=4)
    path = log_dir.delete_log("orders", 0)
    assert path == f"/data/orders-0.{'ab' * 16}-delete"
    assert log_dir.log("orders", 0) is None
    assert len(piece.read()) == len(piece)
    assert log_dir.create_log("orders", 0, bytes(16), LogConfig()).end_offset == 0
    assert log_dir.deleted.paths() == [path]
    log_dir.deleted.remove(path)
    assert log_dir.deleted.paths() == []
    assert log_dir.delete_log("missing", 0) is None


def test_a_deletion_survives_a_loss_of_power(disk: MemoryDisk) -> None:
    log_dir = open_dir(disk)
    log_dir.create_log("orders", 0, TOPIC_ID, LogConfig()).sync()
    log_dir.delete_log("orders", 0)
    log_dir.deleted.sync()
    for seed in range(5):
        disk.crash(Unsynced.JOURNALED, random.Random(seed))
        log_dir = open_dir(disk)
        assert log_dir.log("orders", 0) is None


def test_damaged_checkpoints_make_recovery_start_over(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    log_dir = open_dir(disk)
    log = filled_log(log_dir, make_batch)
    log.sync()
    log_dir.offsets.write_recovery_points()
    assert disk.read("/data/recovery-point-offset-checkpoint") == b"0\n1\norders 0 4\n"
    disk.replace("/data/recovery-point-offset-checkpoint", b"nonsense")
    disk.crash(Unsynced.KEPT)
    found = open_dir(disk).log("orders", 0)
    assert found is not None
    assert (found.end_offset, found.recovery_point) == (4, 0)


def test_what_a_deletion_cut_short_left_in_checkpoints_is_not_taken_for_a_new_topic(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    checkpoints = ("recovery-point-offset-checkpoint", "log-start-offset-checkpoint")
    open_dir(disk).create_log("others", 0, TOPIC_ID, LogConfig())
    for name in checkpoints:
        disk.replace(f"/data/{name}", b"0\n2\norders 0 400\nothers 0 0\n")
    disk.crash(Unsynced.KEPT)
    log = open_dir(disk).create_log("orders", 0, TOPIC_ID, LogConfig())
    for name in checkpoints:
        assert disk.read(f"/data/{name}") == b"0\n1\nothers 0 0\n"
    log.stage_as_leader(make_batch(4), 0, 0)
    log.commit()
    disk.crash(Unsynced.KEPT)
    found = open_dir(disk).log("orders", 0)
    assert found is not None
    assert (found.start_offset, found.end_offset) == (0, 4)
    assert found.recovery.scanned_bytes == log.size


def test_a_log_of_a_deleted_name_finds_nothing_of_its_predecessor_in_the_checkpoints(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    log_dir = open_dir(disk)
    log = filled_log(log_dir, make_batch)
    log.sync()
    log.raise_start(2, 4)
    log_dir.offsets.write_all()
    log_dir.delete_log("orders", 0)
    assert b"orders 0 4" in disk.read("/data/recovery-point-offset-checkpoint")
    log_dir.create_log("orders", 0, TOPIC_ID, LogConfig())
    assert disk.read("/data/recovery-point-offset-checkpoint") == b"0\n0\n"
    assert disk.read("/data/log-start-offset-checkpoint") == b"0\n0\n"


def test_nor_after_a_crash_that_came_when_its_folder_was_made(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    log_dir = open_dir(disk)
    log = filled_log(log_dir, make_batch)
    log.sync()
    log.raise_start(2, 4)
    log_dir.offsets.write_all()
    log_dir.delete_log("orders", 0)
    log_dir.make_place("orders", 0)
    disk.crash(Unsynced.KEPT, random.Random(0))
    found = open_dir(disk).log("orders", 0)
    assert found is not None
    assert (found.start_offset, found.end_offset) == (0, 0)


def test_nor_in_one_that_was_being_collected(disk: MemoryDisk, make_batch: MakeBatch) -> None:
    log_dir = open_dir(disk)
    log = filled_log(log_dir, make_batch)
    log.sync()
    collected = log_dir.offsets.collect_recovery_points()
    collected.collect(10)
    log_dir.delete_log("orders", 0)
    log_dir.create_log("orders", 0, TOPIC_ID, LogConfig())
    assert collected.finish() is None


def test_a_name_that_was_never_here_costs_no_checkpoint(disk: MemoryDisk) -> None:
    log_dir = open_dir(disk)
    log_dir.create_log("orders", 0, TOPIC_ID, LogConfig())
    log_dir.offsets.write_all()
    disk.faults.keep_history = True
    log_dir.create_log("orders", 1, TOPIC_ID, LogConfig())
    assert not [line for line in disk.faults.history if "offset-checkpoint" in line]


def test_only_starts_that_the_files_do_not_tell_are_written_down(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    log_dir = open_dir(disk)
    for partition, start_offset in ((0, 0), (1, 4), (2, 2)):
        log = log_dir.create_log("orders", partition, TOPIC_ID, LogConfig(retention_bytes=0))
        log.stage_as_leader(make_batch(4), 0, 0)
        log.commit()
        log.raise_start(start_offset, 4)
    first = log_dir.log("orders", 1)
    assert first is not None
    first.delete_old(0, 4)  # the log rolls: its only segment begins at 4
    log_dir.offsets.write_log_starts()
    assert disk.read("/data/log-start-offset-checkpoint") == b"0\n1\norders 2 2\n"
    again = open_dir_after_crash(disk)
    assert [again.logs[TopicPartition("orders", n)].start_offset for n in range(3)] == [0, 4, 2]


def open_dir_after_crash(disk: MemoryDisk) -> LogDir:
    disk.crash(Unsynced.KEPT)
    return open_dir(disk)
