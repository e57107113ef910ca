"""Bugs planted into the group coordinator are found by what members see."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.coordinators.groups.carrying_out import CarryingOut
from logquake.node.coordinators.groups.group import Group
from logquake.node.coordinators.groups.group_partition import GroupPartition
from logquake.node.coordinators.groups.membership import heartbeats, storing
from logquake.node.coordinators.groups.membership.effects import Store
from logquake.node.coordinators.groups.terms import GroupTerm
from logquake.wire.errors import ErrorCode
from tests.sim.group_simulation import GroupSimulation
from tests.sim.simulation import SimulationFailure

SEEDS = 40  # each is found by one in some fifteen, or more

Plant = Callable[[pytest.MonkeyPatch], None]


def with_commits_of_any_generation(patch: pytest.MonkeyPatch) -> None:
    """A member that slept through a rebalance commits for whoever reads its partitions now."""
    patch.setattr(heartbeats, "commit_error", lambda *_who, **_how: ErrorCode.NONE)


def with_assignments_told_too_soon(patch: pytest.MonkeyPatch) -> None:
    """Members are told of an assignment that the next coordinator may know nothing of."""
    store_it = CarryingOut._store

    def hasty(self: CarryingOut, term: GroupTerm, group: Group, store: Store) -> None:
        store_it(self, term, group, store)
        storing.stored(group.membership, store.purpose, ErrorCode.NONE, self.now())
        self.carry_out(term, group)

    patch.setattr(CarryingOut, "_store", hasty)


def without_groups_after_a_load(patch: pytest.MonkeyPatch) -> None:
    """The next coordinator knows of no generation, and gives their numbers out again."""
    patch.setattr(GroupPartition, "_replay_group", lambda _state, _group_id, _value: None)


PLANTED: list[Plant] = [
    with_commits_of_any_generation,
    with_assignments_told_too_soon,
    without_groups_after_a_load,
]


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_bug_is_found(monkeypatch: pytest.MonkeyPatch, plant: Plant) -> None:
    plant(monkeypatch)
    assert "groups does not hold" in first_failure()


def first_failure() -> str:
    for seed in range(SEEDS):
        try:
            GroupSimulation(seed).run()
        except SimulationFailure as failure:
            return str(failure)
    return "none"
