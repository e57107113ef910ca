"""Transactions are whole, whatever fails; and bugs planted into their coordinator are found."""

from __future__ import annotations

import re

import pytest

from logquake.planted.bug import PlantedBug, World
from logquake.planted.planting import plant
from tests.sim.planted import first_failure, found_by, in_world
from tests.sim.transactions.simulation import TransactionalSimulation

SEEDS_A_TEST = 4
FIRST_SEEDS = (0, 8)
SEEDS_A_BUG = 100  # one run in eleven shows the rarest


@pytest.mark.slow
@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_transactions_are_whole_whatever_fails(first: int) -> None:
    committed = aborted = faults = 0
    for seed in range(first, first + SEEDS_A_TEST):
        simulation = TransactionalSimulation(seed)
        faults += simulation.run().counts["fault"]
        committed += simulation.ledger.committed
        aborted += simulation.ledger.aborted
    assert faults >= 3 * SEEDS_A_TEST
    assert committed >= 6 * SEEDS_A_TEST
    assert aborted >= 6 * SEEDS_A_TEST


@pytest.mark.slow
@pytest.mark.parametrize("bug", in_world(World.TRANSACTIONS), ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: PlantedBug, monkeypatch: pytest.MonkeyPatch) -> None:
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(TransactionalSimulation, SEEDS_A_BUG, bug))
