"""The list of bugs is what it says: names that are one bug's, functions that are there."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from logquake.chaos.checkers.judging import RULES
from logquake.chaos.hunts.hunting import hunt_scenario, hunted
from logquake.planted.bug import PlantedBug
from logquake.planted.bugs import BUGS

INVARIANTS = {rule.name for rule in RULES}


def by_name(bug: PlantedBug) -> str:
    return bug.name


def test_each_has_a_name_and_a_function_of_its_own() -> None:
    for of_bug in (by_name, lambda bug: bug.plant):
        assert [each for each, count in Counter(map(of_bug, BUGS)).items() if count > 1] == []


@pytest.mark.parametrize("bug", BUGS, ids=by_name)
def test_what_it_names_is_there(bug: PlantedBug, monkeypatch: pytest.MonkeyPatch) -> None:
    bug.load()(monkeypatch.setattr)
    assert bug.hunt or bug.simulated
    if bug.hunt is not None:
        assert set(bug.hunt.breaks) <= INVARIANTS
        assert re.compile(bug.hunt.cause)
        assert not hunt_scenario(bug.hunt).setup.planted_bugs


def test_real_brokers_show_some_of_every_room() -> None:
    assert len({bug.room for bug in hunted()}) == 4
    assert len(hunted()) >= 30


def test_sound_brokers_play_each_scenario_once() -> None:
    scenarios = [bug.hunt.scenario for bug in hunted(sound=True) if bug.hunt is not None]
    assert sorted(scenarios) == sorted({bug.hunt.scenario for bug in hunted() if bug.hunt})
