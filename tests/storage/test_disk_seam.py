"""What every Disk does, held against the machine's, the one in memory, and those that wrap."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from logquake.cluster.faults.disk.faulty_disk import FaultyDisk
from logquake.cluster.faults.disk.strikes import Strikes
from logquake.cluster.faults.power.record import Record
from logquake.cluster.faults.power.recorded_disk import RecordedDisk
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.disk.seam import Disk
from tests.doubles.memory_disk import MemoryDisk

KINDS: dict[str, Callable[[], Disk]] = {
    "real": RealDisk,
    "memory": MemoryDisk,
    "faulty": lambda: FaultyDisk(RealDisk(), Strikes()),
}


@pytest.fixture(params=[*KINDS, "recorded"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param in KINDS:
        yield KINDS[request.param]()
    else:
        with closing(Record(tmp_path / "record")) as record:
            yield RecordedDisk(RealDisk(), record)


@pytest.fixture
def root(disk: Disk, tmp_path: Path) -> str:
    path = f"{tmp_path}/root"
    disk.make_dirs(path)
    return path


def test_a_file_reads_back_what_was_written_by_position(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    assert file.pwritev([b"abc", bytearray(b"de"), memoryview(b"fgh")], 0) == 8
    assert file.pwritev([b"XY"], 3) == 2
    assert file.pread(8, 0) == b"abcXYfgh"
    assert file.pread(100, 6) == b"gh"
    assert file.pread(10, 8) == b""
    assert file.size() == 8


def test_a_write_past_the_end_leaves_zeros_between(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    file.pwritev([b"end"], 10_000)
    assert file.size() == 10_003
    assert file.pread(10_003, 0) == bytes(10_000) + b"end"


def test_more_buffers_than_one_system_call_takes_are_all_written(disk: Disk, root: str) -> None:
    buffers = [b"%05d" % number for number in range(3 * os.sysconf("SC_IOV_MAX"))]
    file = disk.open(f"{root}/f", create=True)
    assert file.pwritev(buffers, 7) == 5 * len(buffers)
    assert file.pread(5 * len(buffers), 7) == b"".join(buffers)


def test_truncate_cuts_and_extends_with_zeros(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    file.pwritev([b"x" * 9_000], 0)
    file.truncate(5_000)
    file.truncate(9_000)
    assert file.pread(9_000, 0) == b"x" * 5_000 + bytes(4_000)


def test_open_without_create_wants_the_file_to_be_there(disk: Disk, root: str) -> None:
    with pytest.raises(FileNotFoundError):
        disk.open(f"{root}/missing")
    with pytest.raises(FileNotFoundError):
        disk.open(f"{root}/no-folder/f", create=True)
    with pytest.raises(FileNotFoundError):
        disk.read(f"{root}/missing")
    disk.open(f"{root}/f", create=True).pwritev([b"kept"], 0)
    assert disk.open(f"{root}/f", create=True).pread(4, 0) == b"kept"


def test_a_closed_file_fails(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    file.close()
    with pytest.raises(OSError):
        file.pread(1, 0)


def test_replace_swaps_the_whole_content(disk: Disk, root: str) -> None:
    disk.replace(f"{root}/f", b"a long first content")
    disk.replace(f"{root}/f", b"short")
    assert disk.read(f"{root}/f") == b"short"
    assert disk.list(root) == ["f"]


def test_names_are_listed_in_order(disk: Disk, root: str) -> None:
    for name in ("b", "a", "c"):
        disk.replace(f"{root}/{name}", b"")
    disk.make_dirs(f"{root}/ab/deep/er")
    assert disk.list(root) == ["a", "ab", "b", "c"]
    assert disk.exists(f"{root}/ab/deep")
    assert not disk.exists(f"{root}/ab/other")
    with pytest.raises(FileNotFoundError):
        disk.list(f"{root}/missing")


def test_rename_moves_folders_and_replaces_files(disk: Disk, root: str) -> None:
    disk.make_dirs(f"{root}/old")
    disk.replace(f"{root}/old/f", b"1")
    disk.rename(f"{root}/old", f"{root}/new")
    assert disk.read(f"{root}/new/f") == b"1"
    disk.replace(f"{root}/new/g", b"2")
    disk.rename(f"{root}/new/g", f"{root}/new/f")
    assert disk.list(f"{root}/new") == ["f"]
    assert disk.read(f"{root}/new/f") == b"2"
    with pytest.raises(FileNotFoundError):
        disk.rename(f"{root}/old", f"{root}/newer")


def test_removing_what_is_not_there_is_no_error(disk: Disk, root: str) -> None:
    disk.remove(f"{root}/missing")
    disk.remove_tree(f"{root}/missing")
    disk.remove(f"{root}/missing/f")
    disk.remove_tree(f"{root}/missing/d")
    disk.make_dirs(f"{root}/d/e")
    disk.remove_tree(f"{root}/d")
    disk.replace(f"{root}/f", b"")
    disk.remove(f"{root}/f")
    assert disk.list(root) == []


def test_an_open_file_outlives_its_name(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    file.pwritev([b"still here"], 0)
    disk.remove(f"{root}/f")
    disk.open(f"{root}/f", create=True).pwritev([b"another"], 0)
    assert file.pread(10, 0) == b"still here"


def test_sync_calls_work_on_files_and_folders(disk: Disk, root: str) -> None:
    file = disk.open(f"{root}/f", create=True)
    file.pwritev([b"x"], 0)
    file.sync()
    disk.sync_dir(root)
    with pytest.raises(FileNotFoundError):
        disk.sync_dir(f"{root}/missing")


def test_a_lock_is_held_once_until_released(disk: Disk, root: str) -> None:
    lock = disk.lock(f"{root}/.lock")
    with pytest.raises(BlockingIOError):
        disk.lock(f"{root}/.lock")
    lock.release()
    disk.lock(f"{root}/.lock").release()
