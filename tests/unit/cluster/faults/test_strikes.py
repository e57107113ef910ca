"""Which calls on a disk are struck by what was ordered."""

from __future__ import annotations

import errno

import pytest

from logquake.cluster.faults.disk.faulty_disk import FaultyDisk
from logquake.cluster.faults.disk.strikes import Strikes
from logquake.cluster.faults.orders import (
    CHANGES,
    NEED_SPACE,
    DieAtCall,
    DiskOrder,
    FailCalls,
    SlowCalls,
)
from tests.doubles.memory_disk import MemoryDisk


class Died(Exception):  # noqa: N818 - no error: it was ordered
    pass


class Machine:
    """A disk with /d/a.log and /d/b.log on it, and what waits and deaths there were."""

    def __init__(self) -> None:
        self.waits_s: list[float] = []
        self.memory = MemoryDisk()
        self.strikes = Strikes(self.waits_s.append, self._die)
        self.disk = FaultyDisk(self.memory, self.strikes)
        self.disk.make_dirs("/d")
        self.a, self.b = (self.disk.open(f"/d/{name}.log", create=True) for name in "ab")

    def _die(self) -> None:
        raise Died

    def order(self, order: DiskOrder) -> None:
        self.strikes.add("f1", order)


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_every_call_is_struck_until_the_order_is_healed(machine: Machine) -> None:
    machine.order(FailCalls(("sync",)))
    for _ in range(3):
        with pytest.raises(OSError) as raised:
            machine.a.sync()
        assert (raised.value.errno, raised.value.filename) == (errno.EIO, "/d/a.log")
    machine.a.pwritev([b"other calls go on"], 0)
    machine.strikes.discard("f1")
    machine.a.sync()


def test_the_nth_call_alone_is_struck_of_those_whose_path_matches(machine: Machine) -> None:
    machine.order(FailCalls(("write",), "b.log", nth=2, times=1))
    machine.a.pwritev([b"1"], 0)
    machine.a.pwritev([b"2"], 1)
    machine.b.pwritev([b"1"], 0)
    with pytest.raises(OSError):
        machine.b.pwritev([b"2"], 1)
    machine.b.pwritev([b"3"], 1)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        *((pattern, True) for pattern in ("*", "a.log", "d/a.log", "/d/*", "*.log")),
        *((pattern, False) for pattern in ("log", ".log", "e/*", "a.log.tmp")),
    ],
)
def test_a_pattern_is_of_the_path_or_of_its_end(
    machine: Machine, pattern: str, matches: bool
) -> None:
    machine.order(SlowCalls(("write",), pattern, delay_ms=5))
    machine.a.pwritev([b"1"], 0)
    assert machine.waits_s == [0.005] * matches


def test_an_input_error_tears_a_write_and_a_full_disk_takes_nothing(machine: Machine) -> None:
    machine.order(FailCalls(("write",)))
    with pytest.raises(OSError):
        machine.a.pwritev([b"abcd", b"efgh"], 0)
    machine.order(FailCalls(NEED_SPACE, error="ENOSPC"))
    with pytest.raises(OSError):
        machine.b.pwritev([b"abcd"], 0)
    assert [machine.a.size(), machine.b.size()] == [4, 0]


def test_a_full_disk_says_that_it_is_and_still_lets_things_be_removed(machine: Machine) -> None:
    machine.order(FailCalls(NEED_SPACE, "/d/*", error="ENOSPC"))
    assert machine.disk.space("/d").usable == 0
    assert machine.disk.space("/").usable > 0
    with pytest.raises(OSError):
        machine.disk.open("/d/c.log", create=True)
    with pytest.raises(OSError):
        machine.disk.make_dirs("/d/folder")
    machine.disk.open("/d/a.log")
    machine.disk.rename("/d/a.log", "/d/c.log")
    machine.disk.remove("/d/b.log")
    assert machine.disk.list("/d") == ["c.log"]


def test_a_read_only_disk_is_read(machine: Machine) -> None:
    machine.a.pwritev([b"abc"], 0)
    machine.order(FailCalls(CHANGES, error="EROFS"))
    assert machine.disk.open("/d/a.log").pread(3, 0) == b"abc"
    with pytest.raises(OSError, match="Read-only"):
        machine.disk.replace("/d/a.log", b"x")
    with pytest.raises(OSError, match="Read-only"):
        machine.disk.remove_tree("/d")
    assert machine.memory.list("/d") == ["a.log", "b.log"]


def test_a_torn_write_is_half_made_when_the_process_ends(machine: Machine) -> None:
    machine.order(DieAtCall(("write",), "*.log"))
    with pytest.raises(Died):
        machine.a.pwritev([b"abcd"], 0)
    assert machine.memory.read("/d/a.log") == b"ab"


def test_each_step_of_a_replacement_can_be_struck(machine: Machine) -> None:
    machine.disk.replace("/d/checkpoint", b"old")
    for call in ("create", "truncate", "write", "sync", "rename"):
        machine.order(FailCalls((call,), "checkpoint*"))
        with pytest.raises(OSError):
            machine.disk.replace("/d/checkpoint", b"new")
        machine.disk.remove("/d/checkpoint.tmp")
        assert machine.disk.read("/d/checkpoint") == b"old"


def test_several_orders_strike_in_turn(machine: Machine) -> None:
    machine.strikes.add("f1", SlowCalls(("write",), delay_ms=1))
    machine.strikes.add("f2", SlowCalls(("write",), delay_ms=2))
    machine.strikes.add("f3", FailCalls(("write",)))
    with pytest.raises(OSError):
        machine.a.pwritev([b"1"], 0)
    assert machine.waits_s == [0.001, 0.002]
