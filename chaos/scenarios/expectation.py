"""What must be seen, and what of it was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.rows import Row
from logquake.chaos.scenarios.measures import Measures
from logquake.chaos.scenarios.pace import Pace
from logquake.chaos.scenarios.patterns import RowPattern


class Bounds(BaseModel):
    """Of a number: ``at_least``, ``at_most``, or both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: int = Field(default=0, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    def text(self, what: str, count: int) -> str | None:
        """What is wrong with so many, None if nothing is."""
        if count < self.at_least:
            return f"{count} {what}, not the {self.at_least} or more to be seen"
        if self.at_most is not None and count > self.at_most:
            return f"{count} {what}, not {self.at_most} at most"
        return None


class Fury(BaseModel):
    """How fast a storm has to break things, and which share of its faults meets another one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    per_minute: float = Field(default=0.0, ge=0)
    overlapping: float = Field(default=0.0, ge=0, le=1)

    def text(self, pace: Pace) -> str | None:
        is_enough = pace.overlapping >= self.overlapping * pace.faults
        if pace.per_minute >= self.per_minute and is_enough:
            return None
        return f"{pace}, not {self.per_minute:g} a minute, {self.overlapping:.0%} overlapping"


class Seen(BaseModel):
    """So many rows of a kind, one at least unless it says otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: RowPattern
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    def text(self, count: int) -> str | None:
        bounds = Bounds(at_least=self.at_least, at_most=self.at_most)
        return bounds.text(f"rows of [{self.row}]", count)


class Expectation(BaseModel):
    """``verdicts`` by the name of the invariant: those that it does not name have to hold, or be
    inconclusive, but for those that ``may_break``, as chance will have it. How many acked sends are
    ``lost`` in the end, and how many are there more than once; and rows of clients, brokers and
    the harness. ``pace`` is what a storm has to be to deserve its name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdicts: dict[str, Verdict] = Field(default_factory=dict)
    may_break: tuple[str, ...] = ()
    lost: Bounds = Bounds()
    doubled: Bounds = Bounds()
    seen: tuple[Seen, ...] = ()
    pace: Fury = Fury()

    def unexpected(self, verdicts: Mapping[str, Verdict]) -> list[str]:
        """Invariants that are broken without being meant to be."""
        return [
            name
            for name, outcome in verdicts.items()
            if outcome is Verdict.BROKEN
            and self.verdicts.get(name) is not Verdict.BROKEN
            and name not in self.may_break
        ]

    def unmet(
        self, verdicts: Mapping[str, Verdict], measures: Measures, rows: Iterable[Row]
    ) -> list[str]:
        """What was to be seen and was not, in words."""
        amounts = (
            self.lost.text("acked sends lost", measures.lost),
            self.doubled.text("sends there more than once", measures.doubled),
            self.pace.text(measures.pace),
        )
        return [
            *self._other_verdicts(verdicts),
            *(text for text in amounts if text is not None),
            *_not_seen(self.seen, rows),
        ]

    def _other_verdicts(self, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
        for name, wanted in self.verdicts.items():
            found = verdicts.get(name, Verdict.INCONCLUSIVE)
            if found is not wanted:
                yield f"{name} was expected to be seen as {wanted}, and is {found}"


def _not_seen(expected: Sequence[Seen], rows: Iterable[Row]) -> Iterator[str]:
    counts = [0] * len(expected)
    if expected:
        for row in rows:
            for index, one in enumerate(expected):
                counts[index] += one.row.matches(row)
    for one, count in zip(expected, counts, strict=True):
        text = one.text(count)
        if text is not None:
            yield text
