"""Programs that use the clients' own cores are kept their promises over many seeds, bugs planted
into those cores are found, and on tiny literal histories what is wrong is named.
"""

from __future__ import annotations

import re

import pytest

from logquake.client.consumer.records import ConsumerRecord
from logquake.planted.bug import PlantedBug, World
from logquake.planted.planting import plant
from logquake.wire.topic_partition import TopicPartition
from tests.sim.planted import first_failure, found_by, in_world
from tests.sim.programs.copying import CopyingSimulation
from tests.sim.programs.reading import Reading
from tests.sim.programs.simulation import ProgramsSimulation

SEEDS_A_TEST = 4
TESTS = 3
COPYING_TESTS = 2
SEEDS_A_BUG = 20
ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * TESTS, SEEDS_A_TEST))
def test_programs_are_kept_their_promises_whatever_fails(first: int) -> None:
    generations = commits = handed_out = faults = 0
    for seed in range(first, first + SEEDS_A_TEST):
        simulation = ProgramsSimulation(seed)
        faults += simulation.run().counts["fault"]
        generations += len(simulation.reading.generations)
        commits += simulation.reading.commits
        handed_out += simulation.reading.handed_out
    assert faults >= 3 * SEEDS_A_TEST
    assert generations >= 2 * SEEDS_A_TEST
    assert commits >= 10 * SEEDS_A_TEST
    assert handed_out >= 60 * SEEDS_A_TEST


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * COPYING_TESTS, SEEDS_A_TEST))
def test_copies_are_made_exactly_once_whatever_fails(first: int) -> None:
    copies = lives = 0
    for seed in range(first, first + SEEDS_A_TEST):
        simulation = CopyingSimulation(seed)
        simulation.run()
        copies += sum(len(reader.values) for reader in simulation.readers)
        lives += sum(len(member.watches) for member in simulation.members)
    assert copies >= 10 * SEEDS_A_TEST  # batches of them
    assert lives > 3 * SEEDS_A_TEST


@pytest.mark.slow
@pytest.mark.parametrize("bug", in_world(World.PROGRAMS), ids=lambda bug: bug.name)
def test_a_planted_bug_is_found(bug: PlantedBug, monkeypatch: pytest.MonkeyPatch) -> None:
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(ProgramsSimulation, SEEDS_A_BUG, bug))


@pytest.mark.slow
@pytest.mark.parametrize("bug", in_world(World.COPIES), ids=lambda bug: bug.name)
def test_a_bug_planted_into_who_copies_is_found(
    bug: PlantedBug, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant([bug], monkeypatch.setattr)
    assert re.search(found_by(bug), first_failure(CopyingSimulation, SEEDS_A_BUG, bug))


def record(place: TopicPartition, offset: int) -> ConsumerRecord:
    return ConsumerRecord(place, offset, 0, False, None, b"", (), 0)


def problems(reading: Reading) -> list[str]:
    return list(reading.take_problems())


@pytest.fixture
def reading() -> Reading:
    """Member a was given the first record of a partition that is its own."""
    reading = Reading()
    reading.assigned("a", 1, [ONE], [ONE])
    reading.handed("a", record(ONE, 0))
    assert problems(reading) == []
    return reading


def test_a_partition_has_one_owner_in_a_generation(reading: Reading) -> None:
    reading.assigned("b", 1, [TWO], [TWO])
    reading.assigned("b", 2, [ONE], [ONE, TWO])
    assert problems(reading) == []
    reading.assigned("b", 1, [ONE], [ONE, TWO])
    assert problems(reading) == [f"{ONE} is a's in 1, and b's too"]


def test_what_follows_has_no_gap_and_no_step_back(reading: Reading) -> None:
    reading.handed("a", record(ONE, 1))
    assert problems(reading) == []
    reading.handed("a", record(ONE, 3))
    reading.handed("a", record(ONE, 3))
    assert len(problems(reading)) == 2


def test_the_next_owner_may_begin_further_back_and_not_further_on(reading: Reading) -> None:
    reading.given_up("a", [ONE])
    reading.assigned("b", 2, [ONE], [ONE])
    reading.handed("b", record(ONE, 0))
    assert problems(reading) == []
    reading.given_up("b", [ONE])
    reading.assigned("a", 3, [ONE], [ONE])
    reading.handed("a", record(ONE, 2))
    assert len(problems(reading)) == 1


def test_nothing_is_handed_out_of_what_was_given_up(reading: Reading) -> None:
    reading.given_up("a", [ONE])
    reading.handed("a", record(ONE, 1))
    assert problems(reading) == [f"a was given {ONE} 1, and does not own it"]


def test_commits_are_of_what_was_given_and_is_nobody_elses(reading: Reading) -> None:
    reading.commits_leave("a", 1, {ONE: 1})
    assert problems(reading) == []
    reading.commits_leave("a", 1, {ONE: 2})
    assert len(problems(reading)) == 1
    reading.given_up("a", [ONE])
    reading.assigned("b", 2, [ONE], [ONE])
    reading.commits_leave("a", 1, {ONE: 1})  # is refused: its generation is over
    assert problems(reading) == []
    reading.commits_leave("a", 2, {ONE: 1})
    assert problems(reading) == [f"a commits 1 of {ONE} in 2, which is b's"]
