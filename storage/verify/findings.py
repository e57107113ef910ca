"""What is not as it should be."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    DAMAGE = "damage"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """``kind`` is a word for programs, ``message`` a line for people."""

    severity: Severity
    kind: str
    path: str
    message: str


class Findings:
    """In the order in which they were made; of many alike in one file only the first are kept."""

    def __init__(self, max_alike: int = 10) -> None:
        self._max_alike = max_alike
        self._items: list[Finding] = []
        self._counts: Counter[tuple[Severity, str, str]] = Counter()

    @property
    def damaged(self) -> bool:
        return any(severity is Severity.DAMAGE for severity, _, _ in self._counts)

    def count(self, severity: Severity) -> int:
        return sum(n for (each, _, _), n in self._counts.items() if each is severity)

    def damage(self, kind: str, path: str, message: str) -> None:
        self._add(Finding(Severity.DAMAGE, kind, path, message))

    def note(self, kind: str, path: str, message: str) -> None:
        self._add(Finding(Severity.NOTE, kind, path, message))

    def take_over(self, others: Findings, *, as_notes: bool) -> None:
        """Add what others found; as_notes: none of it is damage."""
        for each in others.all():
            severity = Severity.NOTE if as_notes else each.severity
            self._add(Finding(severity, each.kind, each.path, each.message))

    def all(self) -> list[Finding]:
        """With a last one for each group that was cut short."""
        more = [
            Finding(severity, kind, path, f"{count - self._max_alike} more like these")
            for (severity, kind, path), count in self._counts.items()
            if count > self._max_alike
        ]
        return self._items + more

    def _add(self, finding: Finding) -> None:
        alike = (finding.severity, finding.kind, finding.path)
        self._counts[alike] += 1
        if self._counts[alike] <= self._max_alike:
            self._items.append(finding)
