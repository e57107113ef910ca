"""Two judgements of one run are held against each other."""

from __future__ import annotations

from dataclasses import replace

from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation
from logquake.chaos.runs.judgement import RunJudgement
from tests.rounds.audits import differing

ONE, OTHER = (Violation("durable", text, ("kill",)) for text in ("7 are gone", "9 are gone"))
DURABLE = Ruling(1, "durable", Verdict.BROKEN, violations=(ONE, OTHER))
LIVE = Ruling(25, "live", Verdict.INCONCLUSIVE, why="no writes")
HERE = RunJudgement((DURABLE, LIVE))


def judged_otherwise(*rulings: Ruling, notes: tuple[Violation, ...] = ()) -> list[str]:
    return list(differing(HERE, Judgement(rulings, notes)))


def test_violations_in_another_order_are_alike_and_so_is_what_it_cost() -> None:
    assert judged_otherwise(replace(DURABLE, violations=(OTHER, ONE), seconds=9.0), LIVE) == []


def test_a_violation_less_another_chain_or_another_reason_is_not() -> None:
    assert judged_otherwise(replace(DURABLE, violations=(ONE,)), LIVE) == ["durable"]
    chained = replace(DURABLE, violations=(replace(ONE, chain=()), OTHER))
    assert judged_otherwise(chained, replace(LIVE, why="")) == ["durable", "live"]


def test_of_more_than_are_told_which_are_told_is_chance() -> None:
    here = RunJudgement((replace(DURABLE, more=True),))
    by_spark = Judgement((replace(DURABLE, more=True, violations=(ONE,)),))
    assert list(differing(here, by_spark)) == []


def test_losses_that_no_promise_covers_count_too() -> None:
    assert judged_otherwise(DURABLE, LIVE, notes=(ONE,)) == ["losses that no promise covers"]
