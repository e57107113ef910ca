"""What a run is worth, of findings given as values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from logquake.chaos.checkers.verdicts import Judgement, Ruling, Verdict, Violation
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.runs.judgement import ExitStatus, RunJudgement, judged
from logquake.chaos.scenarios.expectation import Bounds, Expectation
from logquake.chaos.scenarios.measures import NOTHING_MEASURED, Measures, measured
from logquake.chaos.scenarios.pace import NO_PACE, Pace, paced

LOST = Ruling(
    1,
    "durable",
    Verdict.BROKEN,
    violations=(Violation("durable", "offset 812 is gone", ("it was acked", "it was truncated")),),
    more=True,
)
HELD = Ruling(9, "shape", Verdict.HOLDS)


def of(
    *rulings: Ruling,
    expectation: Expectation = Expectation(),  # noqa: B008 - a frozen value
    measures: Measures = NOTHING_MEASURED,
    troubles: tuple[str, ...] = (),
) -> RunJudgement:
    return judged(Judgement(rulings), expectation, (), troubles, {"acked": 5}, measures)


def status_of(*rulings: Ruling, **more: Any) -> ExitStatus:
    return of(*rulings, **more).status


def test_a_broken_invariant_counts_unless_it_was_to_break() -> None:
    meant = Expectation(verdicts={"durable": Verdict.BROKEN})
    assert status_of(HELD) is ExitStatus.HELD
    assert status_of(HELD, LOST) is ExitStatus.BROKE
    assert status_of(HELD, LOST, expectation=meant) is ExitStatus.HELD
    assert status_of(HELD, expectation=meant) is ExitStatus.INCONCLUSIVE


def test_what_was_predicted_and_not_seen_is_inconclusive() -> None:
    loss = Expectation(lost=Bounds(at_least=1))
    assert status_of(expectation=loss) is ExitStatus.INCONCLUSIVE
    assert status_of(expectation=loss, measures=Measures(3, 0)) is ExitStatus.HELD
    none = Expectation(lost=Bounds(at_most=0))
    assert status_of(expectation=none, measures=Measures(3, 0)) is ExitStatus.BROKE
    assert status_of(troubles=("no [isr orders/0 size 1] within 60 s",)) is ExitStatus.INCONCLUSIVE


def test_a_judgement_is_kept_and_read_again() -> None:
    judgement = of(LOST, HELD, measures=Measures(1, 2, (812,), Pace(3, 2, 9.5)), troubles=("late",))
    assert RunJudgement.from_json(json.loads(json.dumps(judgement.to_json()))) == judgement


def row(what: Kind, process: str = "producer-1", subject: str = "orders-0", **more: object) -> Row:
    return Row(0, process, 1, what, subject)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "measures"),
    [
        ([row(Kind.ACKED, value=5)], Measures(1, 0, (5,))),
        ([row(Kind.ACKED, value=5), row(Kind.POLLED, "final-x", values=[4, 5])], Measures(0, 0)),
        (
            [row(Kind.ACKED, value=5), row(Kind.POLLED, "member-1", values=[5])],
            Measures(1, 0, (5,)),
        ),
        ([row(Kind.POLLED, "final-x", values=[5, 6, 5, -1, -1])], Measures(0, 1)),
        (
            [row(Kind.POLLED, "final-x", offset=at, values=[5, 6, 7][at:]) for at in (0, 1)],
            Measures(0, 0),
        ),
        ([row(Kind.SEND, value=5, caused_by=2), row(Kind.ACKED, value=5)], Measures(0, 0)),
        ([row(Kind.ACKED, subject="latest-3", value=5)], Measures(0, 0)),
        ([row(Kind.ACKED, value=3 << 40)], Measures(1, 0, (3 << 40,))),
    ],
)
def test_every_ack_that_is_not_read_in_the_end_is_lost(rows: list[Row], measures: Measures) -> None:
    assert measured(rows, "final", ["latest"]) == measures


def test_the_pace_is_of_faults_that_were_done() -> None:
    def fault(sequence: int, begins_s: int, ends_s: int, why: str | None = None) -> list[Row]:
        begun = row(Kind.FAULT_BEGUN, "harness", at_us=begins_s * 1_000_000, sequence=sequence)
        return [begun, row(Kind.FAULT_ENDED, at_us=ends_s * 1_000_000, caused_by=sequence, why=why)]

    rows = [*fault(1, 10, 20), *fault(2, 15, 16), *fault(3, 21, 22, "nobody"), *fault(4, 30, 40)]
    rows = [each._replace(process="harness") for each in rows]
    assert paced(rows) == Pace(faults=3, overlapping=2, seconds=30.0)
    assert str(paced(rows)) == "3 faults, 6.0 a minute, 2 overlapping"
    assert paced(rows[:1]) == NO_PACE


def test_a_run_in_which_too_little_happened_is_inconclusive_and_says_what_was_lacking() -> None:
    vacuous = Ruling(26, "not vacuous", Verdict.INCONCLUSIVE, why="0 elections, of 1")
    judgement = of(HELD, vacuous)
    assert judgement.status is ExitStatus.INCONCLUSIVE
    assert judgement.unmet == ("too little happened to judge by: 0 elections, of 1",)
    meant = Expectation(verdicts={"not vacuous": Verdict.INCONCLUSIVE})
    assert status_of(HELD, vacuous, expectation=meant) is ExitStatus.HELD
    assert status_of(LOST, vacuous) is ExitStatus.BROKE
