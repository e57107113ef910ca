"""From the environment to a bug that is planted."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.replication.partition.isr import CommittedIsr
from logquake.node.replication.partition.roles import Leader
from logquake.planted.bug import PlantedBug
from logquake.planted.bugs import BUGS
from logquake.planted.planting import VARIABLE, UnknownBugError, bugs_asked_for, plant, planted


def test_nothing_is_planted_unless_it_is_asked_for() -> None:
    def surround(outside: Any, _loop: Any) -> Any:
        return outside

    assert bugs_asked_for({}) == ()
    assert bugs_asked_for({VARIABLE: " "}) == ()
    assert planted((), surround) is surround


def test_several_are_named_with_commas() -> None:
    asked = bugs_asked_for({VARIABLE: "min-isr-ignored, ack-before-isr"})
    assert [bug.name for bug in asked] == ["min-isr-ignored", "ack-before-isr"]


def test_a_slip_of_the_pen_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownBugError, match=r"no bug 'min-isr-ignord' .* min-isr-ignored\?"):
        bugs_asked_for({VARIABLE: "min-isr-ignord"})


def test_a_bug_is_planted_and_can_be_taken_back() -> None:
    leader = Leader(1)
    leader.assign((1, 2, 3), CommittedIsr((1, 2, 3)))
    with pytest.MonkeyPatch.context() as patch:
        plant(bugs_asked_for({VARIABLE: "min-isr-ignored"}), patch.setattr)
        assert leader.effective_min_isr(2) == 1
    assert leader.effective_min_isr(2) == 2


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_what_a_bug_takes_the_place_of_is_there(
    bug: PlantedBug, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody would hear of it until a run is to catch that one."""
    plant([bug], monkeypatch.setattr)
