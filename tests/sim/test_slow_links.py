"""What clients are promised holds on slow links, too, and bugs that show there are found."""

from __future__ import annotations

import re

import pytest

from logquake.planted.planting import find_bug, plant
from tests.sim.planted import first_failure, found_by
from tests.sim.slow_links import SlowLinksSimulation

SEEDS = 4


@pytest.mark.slow
def test_programs_are_kept_their_promises_on_slow_links() -> None:
    spells = generations = commits = acked = 0
    for seed in range(SEEDS):
        simulation = SlowLinksSimulation(seed)
        acked += simulation.run().acked
        spells += simulation.spells
        generations += simulation.history.newest
        commits += simulation.history.acked_commits
    assert spells >= SEEDS
    assert generations >= 2 * SEEDS
    assert commits >= 5 * SEEDS
    assert acked >= 10 * SEEDS


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sequence-reused", "loss-taken-for-ack"])
def test_a_planted_bug_is_found_on_slow_links(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bug = find_bug(name)
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(SlowLinksSimulation, SEEDS))
