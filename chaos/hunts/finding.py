"""Whether a run has found the bug that was planted for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from logquake.chaos.checkers.verdicts import Ruling, Verdict, Violation
from logquake.chaos.runs.judgement import RunJudgement
from logquake.planted.bug import Hunt, PlantedBug


@dataclass(frozen=True, slots=True)
class Finding:
    """``violation`` is the one that names the cause. ``broken`` are all invariants that are, also
    those that say nothing of it; ``troubles`` what went other than the scenario has it.
    """

    bug: str
    reference: str
    budget_s: int
    seconds: float
    broken: tuple[str, ...]
    violation: Violation | None
    troubles: tuple[str, ...] = ()

    @property
    def is_caught(self) -> bool:
        return self.violation is not None and self.is_in_time

    @property
    def is_in_time(self) -> bool:
        return self.seconds <= self.budget_s

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "caught": self.is_caught, "in_time": self.is_in_time}


def finding(bug: PlantedBug, hunt: Hunt, judgement: RunJudgement, seconds: float) -> Finding:
    broken = {one.invariant: one for one in judgement.rulings if one.verdict is Verdict.BROKEN}
    telling = (
        violation
        for name in hunt.breaks
        if name in broken
        for violation in _naming(hunt.cause, broken[name])
    )
    return Finding(
        bug.name,
        bug.reference,
        hunt.budget_s,
        seconds,
        tuple(broken),
        next(telling, None),
        judgement.troubles,
    )


def _naming(cause: str, ruling: Ruling) -> Iterator[Violation]:
    for violation in ruling.violations:
        if any(re.search(cause, line) for line in (violation.text, *violation.chain)):
            yield violation
