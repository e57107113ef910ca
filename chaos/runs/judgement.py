"""What a run is worth: each invariant's verdict, what was expected and not seen, and the status."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any

from logquake.chaos.checkers.verdicts import (
    NOT_VACUOUS,
    Judgement,
    Ruling,
    Verdict,
    Violation,
)
from logquake.chaos.history.rows import Row
from logquake.chaos.scenarios.expectation import Expectation
from logquake.chaos.scenarios.measures import NOTHING_MEASURED, Measures
from logquake.chaos.scenarios.memberships import Memberships
from logquake.chaos.scenarios.pace import Pace


class ExitStatus(IntEnum):
    """Of ``logquake chaos run``, ``replay`` and ``shrink``."""

    HELD = 0  # every invariant held, or what was to break broke; what was to be seen was seen
    BROKE = 1  # an invariant that was to hold did not, or more was seen than may be: losses, say
    USAGE = 2
    ENVIRONMENT = 3  # no cluster could be started, say
    INCONCLUSIVE = 4  # too little happened to judge by, or what was to be seen was not seen


@dataclass(frozen=True, slots=True)
class RunJudgement:
    """``unexpected`` is what broke and was not meant to, ``unmet`` what was to be seen and was not,
    ``troubles`` what went wrong with the run itself: a step that could not be done, a cluster that
    is not whole; all in words. ``notes`` are losses that no promise covers.
    """

    rulings: tuple[Ruling, ...]
    notes: tuple[Violation, ...] = ()
    unexpected: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    measures: Measures = NOTHING_MEASURED

    @property
    def status(self) -> ExitStatus:
        if self.unexpected:
            return ExitStatus.BROKE
        if self.unmet or self.troubles:
            return ExitStatus.INCONCLUSIVE
        return ExitStatus.HELD

    @property
    def broken(self) -> tuple[Ruling, ...]:
        """Of invariants that were not meant to break."""
        return tuple(one for one in self.rulings if _is_broken(one.invariant) in self.unexpected)

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, **asdict(self)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> RunJudgement:
        measures = dict(document["measures"])
        measures["first_lost"] = tuple(measures["first_lost"])
        measures["pace"] = Pace(**measures["pace"])
        measures["groups"] = Memberships(**measures["groups"])
        return cls(
            rulings=tuple(_ruling(one) for one in document["rulings"]),
            notes=tuple(map(_violation, document["notes"])),
            unexpected=tuple(document["unexpected"]),
            unmet=tuple(document["unmet"]),
            troubles=tuple(document["troubles"]),
            counts=document["counts"],
            measures=Measures(**measures),
        )


def judged(
    judgement: Judgement,
    expectation: Expectation,
    rows: Iterable[Row],
    troubles: Sequence[str],
    counts: Mapping[str, int],
    measures: Measures,
) -> RunJudgement:
    verdicts = {one.invariant: one.verdict for one in judgement.rulings}
    rows_seen = expectation.counted(rows)
    return RunJudgement(
        judgement.rulings,
        judgement.notes,
        (
            *map(_is_broken, expectation.unexpected(verdicts)),
            *expectation.exceeded(measures, rows_seen),
        ),
        (*_lacking(judgement, expectation), *expectation.unmet(verdicts, measures, rows_seen)),
        tuple(troubles),
        counts,
        measures,
    )


def _is_broken(invariant: str) -> str:
    return f"{invariant} is broken"


def _lacking(judgement: Judgement, expectation: Expectation) -> Iterator[str]:
    """What did not happen, of what a run must have shown; unless nothing was meant to."""
    for ruling in judgement.rulings:
        if (
            ruling.invariant == NOT_VACUOUS
            and ruling.verdict is not Verdict.HOLDS
            and NOT_VACUOUS not in expectation.verdicts
        ):
            yield f"too little happened to judge by: {ruling.why}"


def _ruling(document: Mapping[str, Any]) -> Ruling:
    violations = tuple(map(_violation, document["violations"]))
    return Ruling(**{**document, "verdict": Verdict(document["verdict"]), "violations": violations})


def _violation(document: Mapping[str, Any]) -> Violation:
    return Violation(**{**document, "chain": tuple(document["chain"])})
