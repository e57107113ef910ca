"""Bugs planted into the brokers are found: the invariants are not empty words.

The bugs are those of `planted/bugs.py`. The world's own invariants, which know nothing of how a
broker is built, find them without the help of those that classes assert of themselves; where a
class would have told sooner, that is shown too.
"""

from __future__ import annotations

import re

import pytest

from logquake.node.replication.partition.alter_partition import AlterPartitionManager
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.progress import FollowerProgress
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.partition.roles import Leader
from logquake.planted.bug import PlantedBug, World
from logquake.planted.planting import find_bug, plant
from logquake.storage.log.log import Log
from tests.sim.planted import first_failure, found_by, in_world
from tests.sim.simulation import Simulation, SimulationFailure

SEEDS = 200  # most bugs are found by one in ten, the rarest by one or two of them

KEPT = (AlterPartitionManager, FollowerProgress, Leader, Log, Partition, ReplicaLog)


@pytest.fixture
def only_the_world_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in KEPT:
        monkeypatch.setattr(kept, "check_invariants", lambda _self: None)


@pytest.mark.parametrize("bug", in_world(World.CLUSTER), ids=lambda bug: bug.name)
@pytest.mark.usefixtures("only_the_world_judges")
def test_a_planted_bug_is_found(bug: PlantedBug, monkeypatch: pytest.MonkeyPatch) -> None:
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(Simulation, SEEDS, bug))


@pytest.mark.parametrize(
    ("name", "found_by"),
    [
        ("shrink-before-answer", "committed within maximal"),
        ("start-beyond-mark", "start <= (high watermark <= end|end <= staged)"),
    ],
)
def test_the_class_that_a_planted_bug_breaks_tells_at_once(
    name: str, found_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant([find_bug(name)], monkeypatch.setattr)
    failure = first_failure(Simulation, SEEDS)
    assert re.match(r"seed \d+, event \d+: no_crash does not hold", failure)
    assert re.search(f"InvariantError: {found_by}: ", failure)


def test_a_failure_shows_seed_statement_and_last_events_and_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plant([find_bug("min-isr-ignored")], monkeypatch.setattr)
    failure = first_failure(Simulation, SEEDS)
    seed = re.match(r"seed (\d+), event \d+: min_isr does not hold\nacks=all ok means", failure)
    assert seed
    assert 30 <= len(re.findall(r"^ *\d+\.\d{3} ms  ", failure, re.MULTILINE)) <= 40
    with pytest.raises(SimulationFailure) as repeated:
        Simulation(int(seed[1])).run()
    assert str(repeated.value) == failure
