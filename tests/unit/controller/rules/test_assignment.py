"""Placement of new topics: Kafka's documented example, and properties for every small cluster."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from logquake.controller.rules.assignment import (
    AssignmentError,
    Start,
    assign_replicas,
    rack_alternated,
)
from logquake.wire.errors import ErrorCode

NO_SHIFT = Start(0, 0)
RACKS = {0: "rack1", 1: "rack3", 2: "rack3", 3: "rack2", 4: "rack2", 5: "rack1"}


def unracked(count: int) -> dict[int, str | None]:
    return dict.fromkeys(range(count))


def test_example_without_racks() -> None:
    """From the documentation of AdminUtils.assignReplicasToBrokers."""
    placed = assign_replicas(unracked(5), 10, 3, NO_SHIFT)
    assert list(placed.values()) == [
        (0, 1, 2),
        (1, 2, 3),
        (2, 3, 4),
        (3, 4, 0),
        (4, 0, 1),
        (0, 2, 3),
        (1, 3, 4),
        (2, 4, 0),
        (3, 0, 1),
        (4, 1, 2),
    ]


def test_example_with_racks() -> None:
    assert rack_alternated(RACKS) == [0, 3, 1, 5, 4, 2]
    placed = assign_replicas(RACKS, 7, 3, NO_SHIFT)
    assert list(placed.values()) == [
        (0, 3, 1),
        (3, 1, 5),
        (1, 5, 4),
        (5, 4, 2),
        (4, 2, 0),
        (2, 0, 3),
        (0, 4, 2),
    ]


def test_racks_of_different_size_are_all_in_the_round() -> None:
    assert rack_alternated({1: "a", 2: "a", 3: "a", 4: "b"}) == [1, 4, 2, 3]


@pytest.mark.parametrize("brokers", range(1, 7))
def test_replicas_are_distinct_and_leaders_even(brokers: int) -> None:
    for factor in range(1, brokers + 1):
        start = Start.random(Random(brokers * 10 + factor), brokers)
        placed = assign_replicas(unracked(brokers), brokers * 3, factor, start)
        assert all(len(set(replicas)) == factor for replicas in placed.values())
        leaders = Counter(replicas[0] for replicas in placed.values())
        assert set(leaders.values()) == {3}


@pytest.mark.parametrize("factor", range(1, 7))
def test_as_many_racks_as_possible_hold_a_partition(factor: int) -> None:
    for seed in range(20):
        placed = assign_replicas(RACKS, 12, factor, Start.random(Random(seed), 6))
        for replicas in placed.values():
            assert len(set(replicas)) == factor
            assert len({RACKS[each] for each in replicas}) == min(factor, 3)


def test_added_partitions_go_on_where_the_round_was() -> None:
    all_at_once = assign_replicas(unracked(3), 4, 2, NO_SHIFT)
    added = assign_replicas(unracked(3), 2, 2, NO_SHIFT, first_partition=2)
    assert added[2] == all_at_once[2]
    assert list(added) == [2, 3]


@pytest.mark.parametrize(
    ("partitions", "factor", "code"),
    [
        (0, 1, ErrorCode.INVALID_PARTITIONS),
        (1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 4, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_impossible_numbers_are_refused(partitions: int, factor: int, code: ErrorCode) -> None:
    with pytest.raises(AssignmentError) as refused:
        assign_replicas(unracked(3), partitions, factor, NO_SHIFT)
    assert refused.value.code is code


def test_racks_must_be_known_of_all_or_none() -> None:
    with pytest.raises(AssignmentError, match="Not all brokers have rack information"):
        assign_replicas({1: "a", 2: None}, 1, 1, NO_SHIFT)
