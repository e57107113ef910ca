"""What a crash leaves of a MemoryDisk, and where it can come."""

from __future__ import annotations

import errno
import random

import pytest

from tests.doubles.memory_disk import MemoryDisk, PowerCutError, Unsynced

POWER_LOSSES = [Unsynced.LOST, Unsynced.JOURNALED, Unsynced.SCATTERED]
ROUNDS = 40
PAGE = 8


def disk_with(**files: bytes) -> MemoryDisk:
    """A disk on which /d and its files are synced."""
    disk = MemoryDisk(PAGE)
    disk.make_dirs("d")
    disk.sync_dir("")
    for name, content in files.items():
        disk.replace(f"d/{name}", content)
    return disk


def outcomes(disk: MemoryDisk, unsynced: Unsynced) -> list[MemoryDisk]:
    found = []
    for seed in range(ROUNDS):
        found.append(disk.fork())
        found[-1].crash(unsynced, random.Random(seed))
    return found


def names(disks: list[MemoryDisk]) -> set[tuple[str, ...]]:
    return {tuple(disk.list("d")) for disk in disks}


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_what_was_synced_survives(unsynced: Unsynced) -> None:
    disk = disk_with(f=b"0123456789")
    file = disk.open("d/f")
    file.pwritev([b"abcdefghijklmno"], 20)
    file.truncate(30)
    file.sync()
    for after in outcomes(disk, unsynced):
        assert after.read("d/f") == b"0123456789" + bytes(10) + b"abcdefghij"


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


def test_a_write_is_torn_where_pages_meet() -> None:
    disk = disk_with(f=bytes(3 * PAGE))
    disk.open("d/f").pwritev([b"\xff" * (3 * PAGE)], 0)
    found = {after.read("d/f") for after in outcomes(disk, Unsynced.SCATTERED)}
    assert len(found) == 2**3
    for content in found:
        pages = [content[at : at + PAGE] for at in range(0, 3 * PAGE, PAGE)]
        assert all(len(set(page)) == 1 for page in pages)
    lost = {after.read("d/f") for after in outcomes(disk, Unsynced.LOST)}
    assert lost == {bytes(3 * PAGE)}


def test_an_unsynced_size_is_old_or_new_or_between() -> None:
    disk = disk_with(f=bytes(10))
    disk.open("d/f").truncate(2)
    sizes = {len(after.read("d/f")) for after in outcomes(disk, Unsynced.JOURNALED)}
    assert {2, 10} < sizes <= set(range(2, 11))


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_a_synced_file_in_an_unsynced_folder_can_be_without_a_name(unsynced: Unsynced) -> None:
    disk = disk_with()
    disk.open("d/f", create=True).sync()
    assert () in names(outcomes(disk, unsynced))
    disk.sync_dir("d")
    assert names(outcomes(disk, unsynced)) == {("f",)}


def test_creates_renames_and_removes_reach_the_platter_in_their_order_with_a_journal() -> None:
    disk = disk_with(a=b"", b=b"")
    disk.remove("d/a")
    disk.rename("d/b", "d/c")
    disk.open("d/e", create=True)
    in_order = {("a", "b"), ("b",), ("c",), ("c", "e")}
    assert names(outcomes(disk, Unsynced.JOURNALED)) == in_order
    assert names(outcomes(disk, Unsynced.LOST)) == {("a", "b")}
    scattered = names(outcomes(disk, Unsynced.SCATTERED))
    assert in_order < scattered
    assert ("a", "c") in scattered


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_a_rename_moves_the_name_as_a_whole(unsynced: Unsynced) -> None:
    disk = disk_with(new=b"new", old=b"old")
    disk.rename("d/new", "d/old")
    found = {
        tuple((name, after.read(f"d/{name}")) for name in after.list("d"))
        for after in outcomes(disk, unsynced)
    }
    assert found <= {(("new", b"new"), ("old", b"old")), (("old", b"new"),)}


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
