"""What a run is worth: each invariant's verdict, what was expected and not seen, and the status."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any

from logquake.chaos.history.rows import Row
from logquake.chaos.scenarios.expectation import Expectation, Outcome
from logquake.chaos.scenarios.measures import NOTHING_MEASURED, Measures


class ExitStatus(IntEnum):
    """Of ``logquake chaos run``, ``replay`` and ``shrink``."""

    HELD = 0  # every invariant held, or what was to break broke; what was to be seen was seen
    BROKE = 1  # an invariant that was to hold did not
    USAGE = 2
    ENVIRONMENT = 3  # no cluster could be started, say
    INCONCLUSIVE = 4  # too little happened to judge by, or what was to be seen was not seen


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong in one sentence, and how it came about, sentence by sentence."""

    text: str
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant: ``violations`` are the first few of ``count``."""

    invariant: str
    outcome: Outcome
    meaning: str = ""  # its definition
    why: str = ""  # of an inconclusive one
    count: int = 0
    violations: tuple[Violation, ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """``troubles`` are of the run itself: a step that could not be done, a cluster not whole."""

    findings: tuple[Finding, ...]
    unexpected: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    measures: Measures = NOTHING_MEASURED

    @property
    def outcomes(self) -> dict[str, Outcome]:
        return {one.invariant: one.outcome for one in self.findings}

    @property
    def status(self) -> ExitStatus:
        if self.unexpected:
            return ExitStatus.BROKE
        if self.unmet or self.troubles:
            return ExitStatus.INCONCLUSIVE
        return ExitStatus.HELD

    def to_json(self) -> dict[str, Any]:
        return {"status": self.status, **asdict(self)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Judgement:
        return cls(
            findings=tuple(_finding(one) for one in document["findings"]),
            unexpected=tuple(document["unexpected"]),
            unmet=tuple(document["unmet"]),
            troubles=tuple(document["troubles"]),
            counts=document["counts"],
            measures=Measures(**{**document["measures"], "first_lost": ()}),
        )


def judged(
    findings: Sequence[Finding],
    expectation: Expectation,
    rows: Iterable[Row],
    troubles: Sequence[str],
    counts: Mapping[str, int],
    measures: Measures,
) -> Judgement:
    outcomes = {one.invariant: one.outcome for one in findings}
    return Judgement(
        tuple(findings),
        tuple(expectation.unexpected(outcomes)),
        tuple(expectation.unmet(outcomes, measures, rows)),
        tuple(troubles),
        counts,
        measures,
    )


def _finding(document: Mapping[str, Any]) -> Finding:
    violations = tuple(
        Violation(one["text"], tuple(one["chain"])) for one in document["violations"]
    )
    return Finding(
        **{**document, "outcome": Outcome(document["outcome"]), "violations": violations}
    )
