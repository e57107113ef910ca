"""Bugs planted into the group coordinator are found by what members see."""

from __future__ import annotations

import re

import pytest

from logquake.planted.bug import PlantedBug, World
from logquake.planted.planting import plant
from tests.sim.group_simulation import GroupSimulation
from tests.sim.planted import first_failure, found_by, in_world

SEEDS = 40  # each is found by one in some fifteen, or more


@pytest.mark.parametrize("bug", in_world(World.GROUPS), ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch, bug: PlantedBug) -> None:
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(GroupSimulation, SEEDS, bug))
