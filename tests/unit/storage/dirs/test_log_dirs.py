"""Several log directories: where logs go, what a failing one takes with it, moves between them."""

from __future__ import annotations

import errno
from collections.abc import Callable

import pytest

from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs, OfflineDir
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.errors import LogDirError, StorageError
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.memory_disk import MemoryDisk, PowerCutError, Unsynced

TOPIC_ID = bytes(range(16))
PATHS = ("/a", "/b", "/c")
MakeBatch = Callable[..., memoryview]


class Unique:
    def __init__(self) -> None:
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        return f"{self.made:032x}"


OPTIONS = LogDirOptions(1, "cluster", 0, lambda _topic: LogConfig(), unique=Unique())


def open_dirs(disk: MemoryDisk, *offline: str) -> LogDirs:
    return LogDirs(
        [
            OfflineDir(path, "no such disk")
            if path in offline
            else open_log_dir(disk, path, OPTIONS)
            for path in PATHS
        ]
    )


def create(dirs: LogDirs, index: int = 0, *, is_new: bool = True) -> Log:
    return dirs.create_log("orders", index, TOPIC_ID, LogConfig(), is_new=is_new)


def append(log: Log, batch: memoryview) -> None:
    log.stage_as_leader(batch, 0, 0)
    log.commit()


def copy(source: Log, target: Log) -> None:
    records = source.read(target.end_offset, 1 << 20, up_to=source.end_offset).read()
    target.stage_as_follower(memoryview(bytearray(records)))
    target.commit()


def begin_move(dirs: LogDirs, make_batch: MakeBatch, to: str = "/b") -> tuple[Log, Log]:
    """A log in /a and a future that has caught up with it."""
    current = create(dirs)
    append(current, make_batch(4))
    dirs.prefer("orders", 0, to)
    future = dirs.create_future("orders", 0, current)
    copy(current, future)
    return current, future


def folders(disk: MemoryDisk, path: str) -> list[str]:
    return [name for name in disk.list(path) if name.startswith("orders")]


def test_a_new_log_goes_where_the_fewest_are_ties_in_order(disk: MemoryDisk) -> None:
    dirs = open_dirs(disk)
    made = [create(dirs, index).directory for index in range(4)]
    assert made == ["/a/orders-0", "/b/orders-1", "/c/orders-2", "/a/orders-3"]
    dirs.delete_log("orders", 1)
    assert create(dirs, 4).directory == "/b/orders-4"


def test_a_future_counts_as_a_log(disk: MemoryDisk, make_batch: MakeBatch) -> None:
    dirs = open_dirs(disk)
    begin_move(dirs, make_batch)
    assert create(dirs, 1).directory == "/c/orders-1"


def test_a_preferred_directory_is_taken_once(disk: MemoryDisk) -> None:
    dirs = open_dirs(disk)
    dirs.prefer("orders", 0, "/c")
    assert create(dirs).directory == "/c/orders-0"
    dirs.delete_log("orders", 0)
    assert create(dirs).directory == "/a/orders-0"


def test_a_directory_that_takes_no_folder_is_told_of_and_the_next_one_is_used(
    disk: MemoryDisk,
) -> None:
    dirs = open_dirs(disk)
    failed: list[str] = []
    dirs.on_failure = lambda path, _why: failed.append(path)
    disk.fail_at(1, OSError(errno.EIO, "broken"))
    assert create(dirs).directory == "/b/orders-0"
    assert failed == ["/a"]


def test_logs_come_back_from_all_directories(disk: MemoryDisk, make_batch: MakeBatch) -> None:
    dirs = open_dirs(disk)
    for index in range(3):
        append(create(dirs, index), make_batch(index + 1))
    dirs.write_high_watermarks({"/b": {TopicPartition("orders", 1): 2}})
    dirs.close(clean=True)
    again = open_dirs(disk)
    logs = [again.log("orders", index) for index in range(3)]
    assert [log.end_offset for log in logs if log] == [1, 2, 3]
    assert again.high_watermarks() == {"/a": {}, "/b": {("orders", 1): 2}, "/c": {}}


def test_with_a_directory_offline_only_new_partitions_get_a_log(disk: MemoryDisk) -> None:
    dirs = open_dirs(disk, "/b")
    with pytest.raises(StorageError, match=r"^/b: the log may be in a directory that is offline"):
        create(dirs, is_new=False)
    assert create(dirs).directory == "/a/orders-0"
    with pytest.raises(StorageError, match="/b"):
        dirs.delete_log("elsewhere", 0)
    assert dirs.delete_log("orders", 0)


def test_a_directory_that_fails_takes_its_logs_along_and_no_others(
    disk: MemoryDisk, make_batch: MakeBatch
) -> None:
    dirs = open_dirs(disk)
    lost, kept = create(dirs, 0), create(dirs, 1)
    dirs.fail("/a", "broken")
    assert (lost.is_closed, dirs.log("orders", 0)) == (True, None)
    append(kept, make_batch(2))
    assert dirs.log("orders", 1) is kept
    assert dirs.describe_offline() == "/a (broken)"
    open_log_dir(disk, "/a", OPTIONS)  # the lock is free


def test_without_a_usable_directory_there_is_nothing_to_open(disk: MemoryDisk) -> None:
    with pytest.raises(LogDirError, match=r"no log directory can be used: /a \(no such disk\); /b"):
        open_dirs(disk, *PATHS)


def test_a_checkpoint_that_cannot_be_written_fails_its_directory_alone(disk: MemoryDisk) -> None:
    dirs = open_dirs(disk)
    for index in range(3):
        create(dirs, index)
    failed: list[tuple[str, str]] = []
    dirs.on_failure = lambda path, why: failed.append((path, why))
    disk.fail_at(1, OSError(errno.ENOSPC, "full"))
    dirs.write_high_watermarks({path: {TopicPartition("orders", 0): 1} for path in dirs.paths})
    assert failed == [("/a", "/a: [Errno 28] full")]
    assert disk.exists("/c/replication-offset-checkpoint")


def test_a_partition_in_two_directories_is_for_a_person_to_decide(disk: MemoryDisk) -> None:
    for path in ("/a", "/c"):
        log_dir = open_log_dir(disk, path, OPTIONS)
        log_dir.create_log("orders", 0, TOPIC_ID, LogConfig())
        log_dir.close(clean=True)
    with pytest.raises(
        LogDirError, match=r"^orders-0 lies in two log directories, /a/orders-0 and /c/orders-0: "
    ):
        open_dirs(disk)


def test_a_copied_directory_is_noticed_by_its_id(disk: MemoryDisk) -> None:
    for path in PATHS:
        disk.make_dirs(path)
        disk.replace(f"{path}/meta.properties", b"version=0\ndirectory.id=abc\n")
    with pytest.raises(LogDirError, match=r"^/a and /b have the same directory.id"):
        open_dirs(disk)


def test_a_directory_id_is_kept(disk: MemoryDisk) -> None:
    disk.make_dirs("/a")
    disk.replace("/a/meta.properties", b"version=0\ndirectory.id=abc\nbroker.id=1\n")
    assert open_log_dir(disk, "/a", OPTIONS).directory_id == "abc"
    written = disk.read("/a/meta.properties").decode().splitlines()[2:]
    assert written == ["directory.id=abc", "broker.id=1", "version=0", "cluster.id=cluster"]


class TestMoves:
    def test_a_future_lies_under_kafkas_name(self, disk: MemoryDisk, make_batch: MakeBatch) -> None:
        dirs = open_dirs(disk)
        current, future = begin_move(dirs, make_batch)
        (name,) = folders(disk, "/b")
        assert name.startswith("orders-0.")
        assert name.endswith("-future")
        assert disk.exists(f"/b/{name}/partition.metadata")
        assert dirs.log("orders", 0) is current
        assert dirs.future("orders", 0) is future

    def test_the_future_takes_the_place_and_goes_on(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        current, future = begin_move(dirs, make_batch)
        set_aside = dirs.promote_future("orders", 0)
        assert dirs.log("orders", 0) is future
        assert dirs.future("orders", 0) is None
        assert current.is_closed
        assert folders(disk, "/b") == ["orders-0"]
        append(future, make_batch(3))
        future.truncate_to(5)
        assert set_aside.endswith("-delete")
        assert dirs.deleted() == [set_aside]
        dirs.removal_of([set_aside])()
        assert folders(disk, "/a") == []
        dirs.close(clean=True)
        again = open_dirs(disk).log("orders", 0)
        assert again is not None
        assert (again.directory, again.end_offset) == ("/b/orders-0", 4)

    def test_a_slice_of_the_old_log_stays_readable(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        current, _ = begin_move(dirs, make_batch)
        piece = current.read(0, 1000, up_to=4)
        dirs.promote_future("orders", 0)
        assert len(piece.read()) == len(piece)

    def test_a_future_comes_back_after_a_restart(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        begin_move(dirs, make_batch)
        disk.crash(Unsynced.KEPT)
        again = open_dirs(disk)
        future = again.future("orders", 0)
        assert future is not None
        assert future.end_offset == 4
        again.promote_future("orders", 0)
        assert folders(disk, "/b") == ["orders-0"]

    def test_a_deleted_future_leaves_the_log_alone(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        current, future = begin_move(dirs, make_batch)
        (path,) = dirs.delete_future("orders", 0)
        assert (path.startswith("/b/"), path.endswith("-delete")) == (True, True)
        assert future.is_closed
        append(current, make_batch(1))

    def test_a_deletion_takes_the_future_along(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        begin_move(dirs, make_batch)
        first, second = dirs.delete_log("orders", 0)
        assert (first[:3], second[:3]) == ("/b/", "/a/")
        assert dirs.log("orders", 0) is None
        assert dirs.future("orders", 0) is None

    def test_a_crash_at_any_step_of_a_swap_leaves_one_whole_log(
        self, make_batch: MakeBatch
    ) -> None:
        swapped = set()
        for call in range(1, 30):
            disk = MemoryDisk()
            dirs = open_dirs(disk)
            current, future = begin_move(dirs, make_batch)
            current.sync()
            future.sync()
            disk.fail_at(call, PowerCutError("gone"))
            try:
                dirs.promote_future("orders", 0)
            except PowerCutError:
                pass
            else:
                break
            disk.crash(Unsynced.LOST)
            found = open_dirs(disk).log("orders", 0)
            assert found is not None, call
            assert found.end_offset == 4
            swapped.add(found.directory)
        else:
            pytest.fail("the swap has more steps than this test crashes at")
        assert swapped == {"/a/orders-0", "/b/orders-0"}

    def test_a_future_alone_is_not_taken_for_a_swap(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        begin_move(dirs, make_batch)
        dirs.close(clean=True)
        disk.remove_tree("/a/orders-0")
        again = open_dirs(disk)
        assert again.log("orders", 0) is None
        assert again.future("orders", 0) is not None

    def test_with_a_directory_offline_no_swap_is_completed(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        begin_move(dirs, make_batch)
        dirs.online["/a"].set_aside("orders", 0)
        dirs.close(clean=False)
        assert open_dirs(disk, "/c").log("orders", 0) is None

    def test_when_the_futures_disk_fails_all_is_as_before(
        self, disk: MemoryDisk, make_batch: MakeBatch
    ) -> None:
        dirs = open_dirs(disk)
        current, _ = begin_move(dirs, make_batch)
        disk.fail_at(3, OSError(errno.EIO, "broken"))  # rename, sync of the folder, rename
        with pytest.raises(StorageError, match=r"^/b: "):
            dirs.promote_future("orders", 0)
        assert dirs.log("orders", 0) is current
        assert folders(disk, "/a") == ["orders-0"]
        append(current, make_batch(1))
