"""What a loss of power takes back, of a disk in memory and of recorded files alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.cluster.faults.power.unsynced import Unsynced
from logquake.storage.disk.seam import Disk, File
from tests.storage.power_machines import (
    PAGE,
    Files,
    MemoryMachine,
    PowerMachine,
    RecordedMachine,
    files_of,
)

POWER_LOSSES = [Unsynced.LOST, Unsynced.JOURNALED, Unsynced.SCATTERED]
LIVES = 30
STEPS = 40


@pytest.fixture(params=["memory", "recorded"])
def machine(request: pytest.FixtureRequest) -> PowerMachine:
    if request.param == "memory":
        return MemoryMachine()
    recorded: RecordedMachine = request.getfixturevalue("recorded")
    return recorded


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[RecordedMachine]:
    made = RecordedMachine(tmp_path)
    yield made
    made.record.close()


def put(machine: PowerMachine, **files: bytes) -> str:
    """Synced files in the folder d, whose path it is."""
    folder = f"{machine.root}/d"
    for name, content in files.items():
        machine.disk.replace(f"{folder}/{name}", content)
    return folder


def names(found: list[Files]) -> set[tuple[str, ...]]:
    """In the folder d."""
    return {tuple(path[2:] for path in files if path != "d/") for files in found}


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_what_was_synced_survives(machine: PowerMachine, unsynced: Unsynced) -> None:
    d = put(machine, f=b"0123456789")
    file = machine.disk.open(f"{d}/f")
    file.pwritev([b"abcdefghijklmno"], 20)
    file.truncate(30)
    file.sync()
    for after in machine.outcomes(unsynced):
        assert after["d/f"] == b"0123456789" + bytes(10) + b"abcdefghij"


def test_a_write_is_torn_where_pages_meet(machine: PowerMachine) -> None:
    d = put(machine, f=bytes(3 * PAGE))
    machine.disk.open(f"{d}/f").pwritev([b"\xff" * (3 * PAGE)], 0)
    found = {after["d/f"] for after in machine.outcomes(Unsynced.SCATTERED)}
    assert len(found) == 2**3
    for content in found:
        pages = [content[at : at + PAGE] for at in range(0, 3 * PAGE, PAGE)]
        assert all(len(set(page)) == 1 for page in pages)
    lost = {after["d/f"] for after in machine.outcomes(Unsynced.LOST)}
    assert lost == {bytes(3 * PAGE)}


def test_an_append_is_torn_where_pages_meet(machine: PowerMachine) -> None:
    d = put(machine, f=b"synced")
    machine.disk.open(f"{d}/f").pwritev([b"x" * 2 * PAGE], 6)
    found = {after["d/f"] for after in machine.outcomes(Unsynced.JOURNALED)}
    whole = b"synced" + b"x" * 2 * PAGE
    assert len(found) > 2**3
    for content in found:
        assert content.startswith(b"synced")
        assert all(one in (0, whole[at]) for at, one in enumerate(content))


def test_an_unsynced_size_is_old_or_new_or_between(machine: PowerMachine) -> None:
    d = put(machine, f=bytes(10))
    machine.disk.open(f"{d}/f").truncate(2)
    sizes = {len(after["d/f"]) for after in machine.outcomes(Unsynced.JOURNALED)}
    assert {2, 10} < sizes <= set(range(2, 11))


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_a_synced_file_in_an_unsynced_folder_can_be_without_a_name(
    machine: PowerMachine, unsynced: Unsynced
) -> None:
    d = put(machine)
    machine.disk.open(f"{d}/f", create=True).sync()
    assert () in names(machine.outcomes(unsynced))
    machine.disk.sync_dir(d)
    assert names(machine.outcomes(unsynced)) == {("f",)}


def test_creates_renames_and_removes_reach_the_platter_in_their_order_with_a_journal(
    machine: PowerMachine,
) -> None:
    d = put(machine, a=b"", b=b"")
    machine.disk.remove(f"{d}/a")
    machine.disk.rename(f"{d}/b", f"{d}/c")
    machine.disk.open(f"{d}/e", create=True)
    in_order = {("a", "b"), ("b",), ("c",), ("c", "e")}
    assert names(machine.outcomes(Unsynced.JOURNALED)) == in_order
    assert names(machine.outcomes(Unsynced.LOST)) == {("a", "b")}
    scattered = names(machine.outcomes(Unsynced.SCATTERED))
    assert in_order < scattered
    assert ("a", "c") in scattered


@pytest.mark.parametrize("unsynced", POWER_LOSSES)
def test_a_rename_moves_the_name_as_a_whole(machine: PowerMachine, unsynced: Unsynced) -> None:
    d = put(machine, new=b"new", old=b"old")
    machine.disk.rename(f"{d}/new", f"{d}/old")
    for found in machine.outcomes(unsynced):
        del found["d/"]
        assert found in ({"d/new": b"new", "d/old": b"old"}, {"d/old": b"new"})


def test_a_tree_that_was_removed_is_there_again(machine: PowerMachine) -> None:
    d = put(machine, f=b"1", g=b"2")
    machine.disk.remove_tree(d)
    machine.lose_power(Unsynced.LOST, 0)
    assert files_of(machine.disk, machine.root) == {"d/": b"", "d/f": b"1", "d/g": b"2"}


def test_what_was_done_within_a_renamed_folder_is_taken_back_where_it_is_now(
    machine: PowerMachine,
) -> None:
    d = put(machine, f=b"synced")
    machine.disk.open(f"{d}/f").pwritev([b"SYNCED and more"], 0)
    machine.disk.open(f"{d}/g", create=True)
    machine.disk.rename(d, f"{machine.root}/e")
    machine.disk.sync_dir(machine.root)
    machine.lose_power(Unsynced.LOST, 0)
    assert files_of(machine.disk, machine.root) == {"e/": b"", "e/f": b"synced"}


class Life:
    """The same random steps on any disk; what they see is in ``seen``."""

    def __init__(self, disk: Disk, root: str, seed: int) -> None:
        self._disk = disk
        self._root = root
        self._random = random.Random(seed)
        self.seen: list[object] = []
        self._open: list[File] = []

    def step(self) -> None:
        step = self._random.choice(
            [self._write] * 4
            + [self._make] * 2
            + [self._truncate, self._sync, self._sync]
            + [self._rename, self._remove, self._sync_folder, self._replace, self._make_folder]
        )
        try:
            step()
        except OSError as error:
            self.seen.append((step.__name__, error.errno))

    def _path(self) -> str:
        folder = self._random.choice(["d", "d", "e", "d/deep"])
        return f"{self._root}/{folder}/{self._random.choice('abc')}"

    def _file(self) -> File:
        if self._open and self._random.random() < 0.5:
            return self._random.choice(self._open)
        self._open.append(self._disk.open(self._path()))
        return self._open[-1]

    def _make(self) -> None:
        self._open.append(self._disk.open(self._path(), create=True))

    def _write(self) -> None:
        position = self._random.randrange(4 * PAGE)
        content = self._random.randbytes(self._random.randrange(1, 3 * PAGE))
        self._file().pwritev([content], position)

    def _truncate(self) -> None:
        self._file().truncate(self._random.randrange(6 * PAGE))

    def _sync(self) -> None:
        self._file().sync()

    def _rename(self) -> None:
        source = self._path()
        self._disk.rename(source, f"{source.rpartition('/')[0]}/{self._random.choice('abc')}")

    def _remove(self) -> None:
        if self._random.random() < 0.2:
            self._disk.remove_tree(f"{self._root}/d/deep")
        else:
            self._disk.remove(self._path())

    def _sync_folder(self) -> None:
        self._disk.sync_dir(f"{self._root}/{self._random.choice(['', 'd', 'e', 'd/deep'])}")

    def _replace(self) -> None:
        self._disk.replace(self._path(), self._random.randbytes(PAGE))

    def _make_folder(self) -> None:
        self._disk.make_dirs(f"{self._root}/{self._random.choice(['e', 'd/deep'])}")


@pytest.mark.parametrize("seed", range(LIVES))
def test_recorded_files_lose_what_those_in_memory_lose(
    recorded: RecordedMachine, seed: int
) -> None:
    """Life after life, with ends of the process between, when nothing is lost."""
    in_memory = MemoryMachine()
    for number in range(4):
        seed_of_life = 1_000 * seed + number
        lives = [
            Life(machine.disk, machine.root, seed_of_life) for machine in (in_memory, recorded)
        ]
        for _ in range(STEPS):
            for life in lives:
                life.step()
        assert lives[0].seen == lives[1].seen
        assert files_of(recorded.disk, recorded.root) == files_of(in_memory.disk, in_memory.root)
        if number % 2:
            recorded.end_process()
        else:
            in_memory.lose_power(Unsynced.LOST, seed)
            recorded.lose_power(Unsynced.LOST, seed)
        assert files_of(recorded.disk, recorded.root) == files_of(in_memory.disk, in_memory.root)
