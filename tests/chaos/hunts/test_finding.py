"""A judgement to whether the bug was caught, with its cause named."""

from __future__ import annotations

from logquake.chaos.checkers.verdicts import Ruling, Verdict, Violation
from logquake.chaos.hunts.finding import Finding, finding
from logquake.chaos.runs.judgement import RunJudgement
from logquake.planted.bug import Hunt, PlantedBug, Room

HUNT = Hunt("some", 60, ("truncation", "durable"), r"broker \d truncated")
BUG = PlantedBug("a-bug", Room.REPLICATION, "KAFKA-1211", "It cuts.", "a.b", HUNT)
GONE = Violation("durable", "offset 812 is gone")
TOLD = Violation("durable", "offset 812 is gone", ("broker 2 truncated orders-0",))


def found(*rulings: Ruling, seconds: float = 30.0) -> Finding:
    return finding(BUG, HUNT, RunJudgement(rulings), seconds)


def broken(name: str, *violations: Violation) -> Ruling:
    return Ruling(1, name, Verdict.BROKEN, violations=violations)


def test_it_is_caught_by_the_violation_that_names_its_cause() -> None:
    caught = found(broken("durable", GONE, TOLD))
    assert caught.is_caught
    assert caught.violation is TOLD


def test_what_does_not_name_the_cause_has_not_caught_it() -> None:
    missed = found(broken("durable", GONE))
    assert not missed.is_caught
    assert missed.broken == ("durable",)


def test_what_another_invariant_says_has_not_caught_it() -> None:
    assert not found(broken("readable", TOLD)).is_caught
    assert not found(Ruling(1, "durable", Verdict.HOLDS, violations=(TOLD,))).is_caught


def test_later_than_its_budget_is_missed() -> None:
    late = found(broken("durable", TOLD), seconds=61.0)
    assert not late.is_caught
    assert late.to_json()["in_time"] is False
