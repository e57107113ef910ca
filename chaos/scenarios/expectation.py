"""What must be seen, and what of it was not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import BaseModel, ConfigDict, Field

from logquake.chaos.checkers.verdicts import Verdict
from logquake.chaos.history.rows import Row
from logquake.chaos.scenarios.measures import Measures
from logquake.chaos.scenarios.memberships import Memberships
from logquake.chaos.scenarios.pace import Pace
from logquake.chaos.scenarios.patterns import RowPattern


class Bounds(BaseModel):
    """Of a number: ``at_least``, ``at_most``, or both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: int = Field(default=0, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    def lacking(self, what: str, count: int) -> Iterator[str]:
        """That there are too few, in words."""
        if count < self.at_least:
            yield f"{count} {what}, not the {self.at_least} or more to be seen"

    def exceeded(self, what: str, count: int) -> Iterator[str]:
        """That there are too many."""
        if self.at_most is not None and count > self.at_most:
            yield f"{count} {what}, not {self.at_most} at most"


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


class GroupBounds(BaseModel):
    """Of what Memberships counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generations: Bounds = Bounds()
    quiet_returns: Bounds = Bounds()
    repeated: Bounds = Bounds()

    def amounts(self, groups: Memberships) -> Iterator[tuple[Bounds, str, int]]:
        yield self.generations, "generations of groups", groups.generations
        yield self.quiet_returns, "returns without a generation", groups.quiet_returns
        yield self.repeated, "records handed out again", groups.repeated


class Seen(BaseModel):
    """So many rows of a kind, one at least unless it says otherwise."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    row: RowPattern
    at_least: int = Field(default=1, ge=0)
    at_most: int | None = Field(default=None, ge=0)

    @property
    def bounds(self) -> Bounds:
        return Bounds(at_least=self.at_least, at_most=self.at_most)


class Enough(BaseModel):
    """What a run must have shown before it can be said to have held (invariant 26, not vacuous)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    acked_under_fault: int = Field(default=0, ge=0)
    elections: int = Field(default=0, ge=0)
    truncations: int = Field(default=0, ge=0)


class Expectation(BaseModel):
    """``verdicts`` by the name of the invariant: those that it does not name have to hold, or be
    inconclusive, but for those that ``may_break``, as chance will have it. How many acked sends are
    ``lost`` in the end, how many are there more than once, and how many a reader has ``skipped``
    (counted where something is said of them); what became of ``groups``; and rows of clients,
    brokers and the harness.
    ``pace`` is what a storm has to be to deserve its name, ``enough`` what must have happened
    besides.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    verdicts: dict[str, Verdict] = Field(default_factory=dict)
    may_break: tuple[str, ...] = ()
    lost: Bounds = Bounds()
    doubled: Bounds = Bounds()
    skipped: Bounds | None = None
    groups: GroupBounds = GroupBounds()
    seen: tuple[Seen, ...] = ()
    pace: Fury = Fury()
    enough: Enough | None = None

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
        self, verdicts: Mapping[str, Verdict], measures: Measures, rows_seen: Sequence[int]
    ) -> list[str]:
        """What was to be seen and was not, in words. ``rows_seen`` are as counted() has them."""
        pace = self.pace.text(measures.pace)
        return [
            *self._other_verdicts(verdicts),
            *([] if pace is None else [pace]),
            *chain.from_iterable(
                bounds.lacking(what, count)
                for bounds, what, count in self._amounts(measures, rows_seen)
            ),
        ]

    def exceeded(self, measures: Measures, rows_seen: Sequence[int]) -> list[str]:
        """What was seen more often than it may be."""
        return [
            line
            for bounds, what, count in self._amounts(measures, rows_seen)
            for line in bounds.exceeded(what, count)
        ]

    def counted(self, rows: Iterable[Row]) -> list[int]:
        """How many rows there are of each pattern of ``seen``."""
        counts = [0] * len(self.seen)
        if self.seen:
            for row in rows:
                for index, one in enumerate(self.seen):
                    counts[index] += one.row.matches(row)
        return counts

    def _amounts(
        self, measures: Measures, rows_seen: Sequence[int]
    ) -> Iterator[tuple[Bounds, str, int]]:
        yield self.lost, "acked sends lost", measures.lost
        yield self.doubled, "sends there more than once", measures.doubled
        if self.skipped is not None:
            yield self.skipped, "records skipped by a reader", measures.skipped
        yield from self.groups.amounts(measures.groups)
        for one, count in zip(self.seen, rows_seen, strict=True):
            yield one.bounds, f"rows of [{one.row}]", count

    def _other_verdicts(self, verdicts: Mapping[str, Verdict]) -> Iterator[str]:
        for name, wanted in self.verdicts.items():
            found = verdicts.get(name, Verdict.INCONCLUSIVE)
            if found is not wanted:
                yield f"{name} was expected to be seen as {wanted}, and is {found}"
