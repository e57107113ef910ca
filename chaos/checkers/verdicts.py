"""What a judge says: of one invariant, of a run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NOT_VACUOUS = "not vacuous"  # the invariant without which the others mean nothing


class Verdict(StrEnum):
    HOLDS = "holds"
    BROKEN = "broken"
    INCONCLUSIVE = "inconclusive"  # not judged, or too little happened


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, in a sentence, and the events that led to it, each a sentence, by time.

    ``partition`` is the one where it is seen, ``since_us`` when it began; None and 0 where there is
    none to name.
    """

    invariant: str
    text: str
    chain: tuple[str, ...] = ()
    partition: str | None = None
    since_us: int = 0

    def __str__(self) -> str:
        return "\n  ".join((f"{self.invariant}: {self.text}", *self.chain))


@dataclass(frozen=True, slots=True)
class Ruling:
    """Of one invariant, whose definition is its ``meaning``. ``why`` says why it is inconclusive;
    ``more``: there are violations besides these. ``seconds`` of CPU it took.
    """

    number: int
    invariant: str
    verdict: Verdict
    meaning: str = ""
    violations: tuple[Violation, ...] = ()
    more: bool = False
    why: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """Of a run. ``notes`` are losses that no promise covers, with their chains."""

    rulings: tuple[Ruling, ...]
    notes: tuple[Violation, ...] = ()

    @property
    def verdict(self) -> Verdict:
        verdicts = {ruling.verdict for ruling in self.rulings}
        if Verdict.BROKEN in verdicts:
            return Verdict.BROKEN
        is_vacuous = any(
            ruling.invariant == NOT_VACUOUS and ruling.verdict is not Verdict.HOLDS
            for ruling in self.rulings
        )
        if is_vacuous or Verdict.HOLDS not in verdicts:
            return Verdict.INCONCLUSIVE
        return Verdict.HOLDS

    @property
    def violations(self) -> tuple[Violation, ...]:
        return tuple(each for ruling in self.rulings for each in ruling.violations)

    def __str__(self) -> str:
        lines = [f"the run: {self.verdict}"]
        for ruling in self.rulings:
            why = f" ({ruling.why})" if ruling.why else ""
            lines.append(f"{ruling.number:2} {ruling.invariant}: {ruling.verdict}{why}")
        return "\n".join((*lines, *map(str, self.violations), *map(str, self.notes)))
