"""What must be seen, held against literal rows."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.rows import Row
from logquake.chaos.scenarios.expectation import Bounds, Expectation, Fury, GroupBounds, Seen
from logquake.chaos.scenarios.measures import NOTHING_MEASURED, Measures
from logquake.chaos.scenarios.memberships import Memberships
from logquake.chaos.scenarios.pace import Pace
from logquake.chaos.scenarios.patterns import RowPattern

HOLDS, BROKEN = Verdict.HOLDS, Verdict.BROKEN


def row(what: str, **fields: Any) -> Row:
    return Row(0, "producer-1", 1, what, fields.pop("subject", "orders-0"), **fields)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ({}, True),
        ({"subject": "orders-0"}, True),
        ({"subject": "orders"}, False),
        ({"subject": "orders-.*", "process": "producer.*"}, True),
        ({"why": "NOT_LEADER.*"}, True),
        ({"key": ".*"}, False),
        ({"after": {"leader": 2}}, True),
        ({"after": {"isr.size": "2"}}, True),
        ({"after": {"isr.names": "2"}}, False),
        ({"after": "2"}, False),
        ({"before": "abort"}, True),
    ],
)
def test_a_pattern_is_of_whole_texts(pattern: dict[str, Any], matches: bool) -> None:
    one = row(
        "refused",
        why="NOT_LEADER_OR_FOLLOWER",
        after={"leader": 2, "isr": {"size": 2}},
        before="abort",
    )
    assert RowPattern(what="refused", **pattern).matches(one) == matches
    assert not RowPattern(what="acked", **pattern).matches(one)


@pytest.mark.parametrize(
    ("fields", "matches"),
    [
        ({"offset": 400, "values": [5] * 400}, True),
        ({"offset": 400, "values": [5] * 399}, False),
        ({"offset": 799}, True),
        ({"offset": 798}, False),
        ({"offset": 1000, "values": [5]}, True),
        ({}, False),
    ],
)
def test_rows_may_have_to_reach_an_offset(fields: dict[str, Any], matches: bool) -> None:
    assert RowPattern(what="polled", reaches=799).matches(row("polled", **fields)) == matches


def test_a_broken_invariant_is_unexpected_unless_it_was_to_break() -> None:
    expectation = Expectation(verdicts={"durable": BROKEN})
    outcomes = {"durable": BROKEN, "readable": BROKEN, "shape": HOLDS}
    assert expectation.unexpected(outcomes) == ["readable"]
    assert expectation.unmet(outcomes, NOTHING_MEASURED, []) == []
    assert expectation.unmet({"durable": HOLDS}, NOTHING_MEASURED, []) == [
        "durable was expected to be seen as broken, and is holds"
    ]


def test_rows_are_counted() -> None:
    refused = RowPattern(what="refused")
    rows = [row("refused"), row("refused"), row("acked")]

    def complaints(**bounds: int) -> tuple[list[str], list[str]]:
        expectation = Expectation(seen=(Seen(row=refused, **bounds),))
        counts = expectation.counted(rows)
        unmet = expectation.unmet({}, NOTHING_MEASURED, counts)
        return unmet, expectation.exceeded(NOTHING_MEASURED, counts)

    assert complaints() == complaints(at_least=2) == complaints(at_most=2) == ([], [])
    assert complaints(at_least=3) == (["2 rows of [refused], not the 3 or more to be seen"], [])
    assert complaints(at_least=0, at_most=1) == ([], ["2 rows of [refused], not 1 at most"])


def test_losses_are_held_against_their_bounds() -> None:
    expectation = Expectation(lost=Bounds(at_least=1), doubled=Bounds(at_most=0))
    assert expectation.unmet({}, Measures(5, 0), []) == []
    assert expectation.unmet({}, Measures(0, 2), []) == [
        "0 acked sends lost, not the 1 or more to be seen"
    ]
    assert expectation.exceeded(Measures(5, 0), []) == []
    assert expectation.exceeded(Measures(0, 2), []) == [
        "2 sends there more than once, not 0 at most"
    ]


def test_what_readers_skipped_counts_where_something_is_said_of_it() -> None:
    measures = Measures(0, 0, skipped=3)
    assert Expectation(skipped=Bounds(at_least=4)).unmet({}, measures, []) == [
        "3 records skipped by a reader, not the 4 or more to be seen"
    ]
    assert Expectation(skipped=Bounds(at_most=0)).exceeded(measures, []) == [
        "3 records skipped by a reader, not 0 at most"
    ]
    assert Expectation().exceeded(measures, []) == []


def test_what_becomes_of_groups_is_held_against_bounds() -> None:
    bounds = GroupBounds(generations=Bounds(at_least=20), quiet_returns=Bounds(at_most=0))
    expectation = Expectation(groups=bounds)
    churning, calm = (
        Measures(0, 0, groups=Memberships(generations, 90, quiet))
        for generations, quiet in ((23, 0), (1, 90))
    )
    assert expectation.unmet({}, churning, []) == expectation.exceeded(churning, []) == []
    assert expectation.unmet({}, calm, []) == [
        "1 generations of groups, not the 20 or more to be seen"
    ]
    assert expectation.exceeded(calm, []) == ["90 returns without a generation, not 0 at most"]


def test_a_storm_has_to_be_one() -> None:
    expectation = Expectation(pace=Fury(per_minute=12, overlapping=0.5))
    assert expectation.unmet({}, Measures(0, 0, pace=Pace(12, 6, 60.0)), []) == []
    assert expectation.unmet({}, Measures(0, 0, pace=Pace(11, 11, 60.0)), []) == [
        "11 faults, 11.0 a minute, 11 overlapping, not 12 a minute, 50% overlapping"
    ]
    assert len(expectation.unmet({}, Measures(0, 0, pace=Pace(20, 9, 60.0)), [])) == 1
