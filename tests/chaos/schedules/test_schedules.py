"""A seed to faults at times, and the fewest of them that still fail."""

from __future__ import annotations

from collections.abc import Collection
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.chaos.faults.processes import Kill, Pause
from logquake.chaos.history.fault_spans import FaultSpans
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.schedules.aims import AIMED, TAKING_AWAY, Aims
from logquake.chaos.schedules.drawing import draw
from logquake.chaos.schedules.schedule import Planned, overlapping
from logquake.chaos.schedules.shrinking import shrunk
from logquake.chaos.schedules.storm import Storm
from logquake.chaos.schedules.suspects import about, closed_up
from logquake.cluster.errors import ClusterError

SECOND_US = 1_000_000
AIMS = Aims(brokers=(1, 2, 3), partitions=("orders/0", "orders/1"))


def planned(at: float, lasting: float) -> Planned:
    return Planned(at=at, lasting=lasting, fault=Kill(target="1"))


def test_a_seed_draws_one_schedule_and_another_seed_another() -> None:
    storm = Storm(kinds=dict.fromkeys(AIMED, 1.0))
    assert draw(storm, AIMS, 42) == draw(storm, AIMS, 42)
    assert draw(storm, AIMS, 42) != draw(storm, AIMS, 43)


def test_a_schedule_has_its_rate_and_its_kinds() -> None:
    storm = Storm(duration=36_000, per_minute=12, broken_at_once=100)
    drawn = draw(storm, AIMS, 1)
    assert len(drawn) == 7_200
    assert {one.fault.kind for one in drawn} == set(storm.kinds)
    assert overlapping(drawn) > len(drawn) / 2
    assert [one.at for one in drawn] == sorted(one.at for one in drawn)


@pytest.mark.parametrize("seed", range(20))
def test_no_more_brokers_are_taken_away_than_may_be(seed: int) -> None:
    storm = Storm(per_minute=120, kinds=dict.fromkeys(AIMED, 1.0), broken_at_once=1, calm=10)
    drawn = draw(storm, AIMS, seed)
    assert overlapping([one for one in drawn if one.fault.kind in TAKING_AWAY]) == 0
    assert max(one.at for one in drawn) < 50
    assert max(one.ends for one in drawn) <= 60


@pytest.mark.parametrize("kind", sorted(AIMED))
def test_every_kind_aims_at_what_is_there(kind: str) -> None:
    for seed in range(50):
        fault = AIMED[kind](Random(seed), AIMS)
        assert fault.kind == kind
        assert "4" not in str(dict(fault).get("target", ""))


def test_each_server_of_an_ensemble_is_aimed_at_and_its_offices() -> None:
    ensemble = Aims(brokers=(1, 2, 3), partitions=("orders/0",), zookeepers=3)
    servers = {"zookeeper-1", "zookeeper-2", "zookeeper-3"}
    drawn = {ensemble.zookeeper(Random(seed)) for seed in range(100)}
    assert drawn == servers | {"zookeeper-leader", "zookeeper-follower"}
    links = [ensemble.link(Random(seed)) for seed in range(400)]
    assert servers | {"zookeeper"} < {end for _, end in links}
    assert {(server, "zookeeper") for server in servers} < set(links)
    assert not any(one.startswith("zookeeper") for one, _ in map(AIMS.link, map(Random, range(99))))


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ClusterError, match="flip-bit is not drawn from a seed"):
        draw(Storm(kinds={"flip-bit": 1}), AIMS, 1)


def test_faults_overlap_where_one_lasts_while_another_begins() -> None:
    assert overlapping((planned(0, 2), planned(2, 1), planned(5, 1))) == 0
    assert overlapping((planned(0, 2), planned(1, 0.5), planned(5, 1))) == 2


def test_a_planned_fault_reads_as_a_sentence() -> None:
    one = Planned(at=3.25, lasting=4, fault=Pause(target="controller"))
    assert str(one) == "3.25s for 4s: pause controller"
    document = one.model_dump(mode="json", by_alias=True)
    assert document == {
        "at": "3.25s",
        "for": "4s",
        "fault": {"kind": "pause", "target": "controller"},
    }
    assert Planned.model_validate(document) == one


@given(st.integers(1, 60), st.sets(st.integers(0, 59), min_size=1))
def test_shrinking_finds_exactly_what_is_to_blame(count: int, wanted: set[int]) -> None:
    guilty = {number % count for number in wanted}
    assert shrunk(range(count), lambda parts: guilty <= set(parts)) == tuple(sorted(guilty))


def test_nothing_can_be_left_out_of_what_was_shrunk() -> None:
    def fails(parts: Collection[int]) -> bool:
        """Two kinds of failure, of which either is one."""
        return {3, 17} <= set(parts) or {5, 8, 11} <= set(parts)

    left = shrunk(range(20), fails)
    assert fails(left)
    assert not any(fails([part for part in left if part != one]) for one in left)


def test_nothing_is_asked_twice_and_one_culprit_is_found_soon() -> None:
    asked: list[tuple[int, ...]] = []

    def fails(parts: tuple[int, ...]) -> bool:
        asked.append(parts)
        return 700 in parts

    assert shrunk(range(1_000), fails) == (700,)
    assert len(asked) == len(set(asked)) < 25


def test_what_fails_by_itself_has_no_fault_to_blame() -> None:
    assert shrunk(range(5), lambda _: True) == ()


def test_where_faults_were_left_out_no_time_is_spent() -> None:
    schedule = (planned(30, 5), planned(33, 1), planned(61, 2), planned(64, 1))
    closed = closed_up(schedule, most_idle_s=2)
    assert [(one.at, one.lasting) for one in closed] == [(2, 5), (5, 1), (9, 2), (12, 1)]
    assert closed_up(closed, most_idle_s=2) == closed


def test_the_faults_that_stood_when_it_went_wrong_are_suspected() -> None:
    schedule = tuple(planned(at, 5) for at in (0, 60, 80, 300))
    spans = FaultSpans()
    for sequence, one in enumerate(schedule):
        begun_us = int(one.at * SECOND_US)
        spans.take(
            Row(
                begun_us,
                "harness",
                2 * sequence,
                Kind.FAULT_BEGUN,
                "broker-1",
                after={"kind": "kill"},
                why=str(one),
            )
        )
        ended_us = int(one.ends * SECOND_US)
        ended = Row(ended_us, "harness", 2 * sequence + 1, Kind.FAULT_ENDED, "broker-1")
        spans.take(ended._replace(caused_by=2 * sequence))
    found = list(spans.all(400 * SECOND_US))
    assert about(schedule, found, [70 * SECOND_US]) == schedule[1:3]
    assert about(schedule, found, [200 * SECOND_US, 301 * SECOND_US]) == schedule[3:]
    assert about(schedule, found, []) == ()
