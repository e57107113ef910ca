"""What a group is promised holds over many seeds; on tiny literal histories what is wrong is named,
and what is right is not.
"""

from __future__ import annotations

from collections import Counter

import pytest

from logquake.wire.topic_partition import TopicPartition
from tests.sim.group_history import NOTHING_COMMITTED, GroupHistory
from tests.sim.group_simulation import GroupSimulation

SEEDS_A_TEST = 4
TESTS = 2

ONE, TWO = TopicPartition("orders", 0), TopicPartition("orders", 1)
ENDS = {ONE: 10, TWO: 10}


@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * TESTS, SEEDS_A_TEST))
def test_a_group_is_kept_its_promises_whatever_fails(first: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, first + SEEDS_A_TEST):
        simulation = GroupSimulation(seed)
        simulation.run()
        counts["generations"] += simulation.history.newest
        counts["acked commits"] += simulation.history.acked_commits
    assert counts["generations"] >= 3 * SEEDS_A_TEST
    assert counts["acked commits"] >= 15 * SEEDS_A_TEST


def test_a_partition_has_one_owner_in_a_generation() -> None:
    history = GroupHistory()
    assert list(history.assigned("a", 1, frozenset({ONE}))) == []
    assert list(history.assigned("b", 1, frozenset({TWO}))) == []
    assert list(history.assigned("a", 1, frozenset({ONE}))) == []
    assert list(history.assigned("b", 2, frozenset({ONE}))) == []
    (problem,) = history.assigned("b", 1, frozenset({ONE}))
    assert "is a's in generation 1, and b's too" in problem


def test_a_stale_generations_commit_is_refused() -> None:
    history = GroupHistory()
    list(history.assigned("a", 1, frozenset({ONE})))
    in_time = history.commit_sent("a", 1, {ONE: 3})
    list(history.assigned("b", 2, frozenset({ONE})))
    assert list(history.commit_acked(in_time, ENDS)) == []
    (problem,) = history.commit_acked(history.commit_sent("a", 1, {ONE: 4}), ENDS)
    assert "a later generation had been assigned" in problem


def test_a_committed_offset_is_within_what_is_committed_of_the_partition() -> None:
    history = GroupHistory()
    (problem,) = history.commit_acked(history.commit_sent("a", 1, {ONE: 11}), ENDS)
    assert "ends at 10" in problem


def test_an_acked_commit_survives() -> None:
    history = GroupHistory()
    assert list(history.fetched(ONE, NOTHING_COMMITTED, history.last_acked(ONE))) == []
    list(history.commit_acked(history.commit_sent("a", 1, {ONE: 3}), ENDS))
    before = history.last_acked(ONE)
    history.commit_sent("a", 1, {ONE: 5})  # nobody knows what came of it
    assert list(history.fetched(ONE, 3, before)) == []
    assert list(history.fetched(ONE, 5, before)) == []
    for lost in (NOTHING_COMMITTED, 2, 4):
        (problem,) = history.fetched(ONE, lost, before)
        assert "was acked before" in problem


def test_an_abandoned_commit_may_come_late_within_its_generation() -> None:
    history = GroupHistory()
    history.commit_abandoned(history.commit_sent("a", 1, {ONE: 2}))
    list(history.commit_acked(history.commit_sent("a", 1, {ONE: 3}), ENDS))
    assert list(history.fetched(ONE, 2, history.last_acked(ONE))) == []
    list(history.commit_acked(history.commit_sent("b", 2, {ONE: 3}), ENDS))
    assert len(list(history.fetched(ONE, 2, history.last_acked(ONE)))) == 1


def test_a_later_generation_may_have_begun_further_back() -> None:
    """It was told of less, for the last commit of the earlier one was still on its way."""
    history = GroupHistory()
    list(history.commit_acked(history.commit_sent("a", 1, {ONE: 5}), ENDS))
    list(history.commit_acked(history.commit_sent("b", 2, {ONE: 4}), ENDS))
    assert list(history.fetched(ONE, 4, history.last_acked(ONE))) == []
    assert len(list(history.fetched(ONE, 5, history.last_acked(ONE)))) == 1


def test_nothing_is_skipped_or_read_twice_within_an_assignment() -> None:
    history = GroupHistory()
    assert list(history.polled("a", ONE, 3, 3, 5)) == []
    assert list(history.polled("a", ONE, 4, 3, 5)) == []
    assert len(list(history.polled("a", ONE, 4, 5, 6))) == 1
    assert len(list(history.polled("a", ONE, 5, 3, 5))) == 1
