"""Where a crash of a MemoryDisk can come; test_power_loss.py has what one leaves."""

from __future__ import annotations

import errno

import pytest

from tests.doubles.memory_disk import MemoryDisk, PowerCutError, Unsynced

PAGE = 8


def disk_with(**files: bytes) -> MemoryDisk:
    """A disk on which /d and its files are synced."""
    disk = MemoryDisk(PAGE)
    disk.make_dirs("d")
    disk.sync_dir("")
    for name, content in files.items():
        disk.replace(f"d/{name}", content)
    return disk


def test_the_end_of_the_process_loses_nothing_but_its_handles_and_locks() -> None:
    disk = disk_with()
    file = disk.open("d/f", create=True)
    file.pwritev([b"abc"], 0)
    disk.lock("d/.lock")
    disk.crash(Unsynced.KEPT)
    with pytest.raises(OSError, match="before a crash"):
        file.pread(1, 0)
    assert disk.read("d/f") == b"abc"
    disk.lock("d/.lock").release()


def test_a_tree_is_removed_name_by_name() -> None:
    disk = disk_with(f=b"", g=b"")
    disk.faults.keep_history = True
    disk.remove_tree("d")
    assert disk.faults.history == ["remove d/f", "remove d/g", "remove d"]
    lost = disk.fork()
    lost.crash(Unsynced.LOST)
    assert lost.list("d") == ["f", "g"]


def test_a_fork_has_a_future_of_its_own() -> None:
    disk = disk_with(f=b"1")
    disk.remove("d/f")
    disk.open("d/g", create=True).pwritev([b"2"], 0)
    other = disk.fork()
    disk.open("d/g").pwritev([b"3"], 0)
    disk.sync_dir("d")
    assert other.read("d/g") == b"2"
    other.crash(Unsynced.LOST)
    assert other.read("d/f") == b"1"


def test_a_watcher_sees_every_change_before_it_is_made_and_every_page_of_a_write() -> None:
    disk = disk_with()
    seen: list[tuple[str, bytes]] = []

    def watch(operation: str, path: str) -> None:
        seen.append((operation, disk.read(path) if disk.exists(path) else b"none"))

    disk.faults.watcher = watch
    file = disk.open("d/f", create=True)
    file.pwritev([b"abcdefghij", b"klmnop", b"q"], 3)
    file.sync()
    assert seen == [
        ("create", b"none"),
        ("pwritev", b""),
        ("within pwritev", bytes(3) + b"abcde"),
        ("within pwritev", bytes(3) + b"abcdefghijklm"),
        ("sync", bytes(3) + b"abcdefghijklmnopq"),
    ]


def test_a_failing_write_leaves_its_first_half() -> None:
    disk = disk_with()
    file = disk.open("d/f", create=True)
    disk.fail_at(1, OSError(errno.ENOSPC, "full"))
    with pytest.raises(OSError, match="full"):
        file.pwritev([b"abcd"], 0)
    assert disk.read("d/f") == b"ab"
    file.pwritev([b"abcd"], 0)


def test_nothing_works_without_power() -> None:
    disk = disk_with(f=b"1")
    file = disk.open("d/f")
    disk.fail_at(2, PowerCutError())
    file.sync()
    for _ in range(2):
        with pytest.raises(PowerCutError):
            file.sync()
        with pytest.raises(PowerCutError):
            disk.list("d")
    disk.crash(Unsynced.LOST)
    assert disk.list("d") == ["f"]


def test_the_nth_read_can_fail() -> None:
    disk = disk_with(f=b"1")
    disk.fail_read_at(3, OSError(errno.EIO, "bad sector"))
    assert disk.read("d/f") == b"1"
    with pytest.raises(OSError, match="bad sector"):
        disk.list("d")
    assert disk.list("d") == ["f"]
