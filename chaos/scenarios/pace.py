"""How fast a run broke things, and how many at once, which may be less than was planned."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.schedules.schedule import overlapping

SECONDS_A_MINUTE = 60.0
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Pace:
    """``faults`` were done, within so many ``seconds``; ``overlapping`` of them met another one."""

    faults: int = 0
    overlapping: int = 0
    seconds: float = 0.0

    @property
    def per_minute(self) -> float:
        return self.faults * SECONDS_A_MINUTE / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        return (
            f"{self.faults} faults, {self.per_minute:.1f} a minute, {self.overlapping} overlapping"
        )


NO_PACE = Pace()


class _Span(NamedTuple):
    at: float
    ends: float


def paced(rows: Iterable[Row]) -> Pace:
    """Of faults that were done, and healed again: one that could not be done ends with a reason."""
    begun: dict[tuple[str, int], Row] = {}
    spans: list[_Span] = []
    for row in rows:
        if row.what == Kind.FAULT_BEGUN:
            begun[row.process, row.sequence] = row
        elif row.what == Kind.FAULT_ENDED and row.why is None:
            begin = begun.pop((row.process, row.caused_by or 0))
            spans.append(_Span(begin.at_us / _MICROSECONDS, row.at_us / _MICROSECONDS))
    if not spans:
        return NO_PACE
    seconds = max(one.ends for one in spans) - min(one.at for one in spans)
    return Pace(len(spans), overlapping(spans), seconds)
