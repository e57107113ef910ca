from __future__ import annotations

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.board import Board
from logquake.cluster.links.effects import CLEAR, Cut, Delay, LinkFault, Path, Reset

ENDS = frozenset({"broker-1", "broker-2", "clients", "zookeeper-1", "zookeeper-2"})
CUT = LinkFault(Cut(), (Path(("broker-1",), ("broker-2",)),))


class Changes:
    def __init__(self) -> None:
        self.count = 0
        self.board = Board(ENDS, self._changed)

    def _changed(self) -> None:
        self.count += 1

    def begin(self, fault: LinkFault, owner: str | None = None) -> int:
        return self.board.begin(fault, owner=owner, since_ms=0, until_ms=None).id


def test_a_fault_holds_until_it_is_healed() -> None:
    changes = Changes()
    fault_id = changes.begin(CUT)
    assert changes.board.conditions("broker-1", "broker-2").is_cut
    assert changes.board.conditions("broker-2", "broker-1") == CLEAR
    assert changes.board.heal(fault_id)
    assert changes.board.conditions("broker-1", "broker-2") == CLEAR
    assert changes.count == 2


def test_healing_twice_is_no_error() -> None:
    changes = Changes()
    fault_id = changes.begin(CUT)
    changes.board.heal(fault_id)
    assert not changes.board.heal(fault_id)
    assert changes.count == 2


def test_who_goes_takes_its_own_faults_along() -> None:
    changes = Changes()
    changes.begin(CUT, owner="harness")
    kept = [changes.begin(CUT, owner="another"), changes.begin(CUT)]
    changes.board.heal_those_of("harness")
    assert [held.id for held in changes.board.held] == kept


def test_all_are_healed_at_once() -> None:
    changes = Changes()
    changes.begin(CUT, owner="harness")
    changes.begin(CUT)
    assert changes.board.heal_all() == 2
    assert changes.board.held == []


def test_a_connection_needs_both_directions() -> None:
    changes = Changes()
    changes.begin(CUT)
    assert changes.board.is_silent("broker-1", "broker-2")
    assert changes.board.is_silent("broker-2", "broker-1")
    assert not changes.board.is_silent("clients", "broker-2")
    assert not changes.board.is_reset("broker-1", "broker-2")


def test_a_reset_takes_both_ends() -> None:
    changes = Changes()
    changes.begin(LinkFault(Reset(), (Path(("broker-1",), ("zookeeper",)),)))
    assert changes.board.is_reset("zookeeper-2", "broker-1")


def test_an_end_that_no_link_has_is_refused() -> None:
    changes = Changes()
    with pytest.raises(ClusterError, match="no link ends at broker-9: there are broker-1, "):
        changes.begin(LinkFault(Delay(5), (Path(("broker-9",), ("clients",)),)))
    assert changes.count == 0
