"""How a run went for the members of groups: what scenarios predict of rebalances."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from logquake.chaos.history.rows import Kind, Row


@dataclass(frozen=True, slots=True)
class Memberships:
    """``generations`` in which something was given out, of all groups. ``returns`` of members that
    had given up all they held, of which ``quiet_returns`` began no generation: what a static member
    left, it has again. ``repeated`` records were handed to a group that had had them before.
    """

    generations: int = 0
    returns: int = 0
    quiet_returns: int = 0
    repeated: int = 0

    def __str__(self) -> str:
        return (
            f"{self.generations:,} generations, {self.quiet_returns:,} of {self.returns:,} returns "
            f"without one, {self.repeated:,} records handed out again"
        )


NO_MEMBERSHIPS = Memberships()


def memberships(rows: Iterable[Row]) -> Memberships:
    """``rows`` are in the order of time."""
    generations: set[tuple[str, int | None]] = set()
    members: dict[tuple[str, str], _Member] = {}
    returns, quiet, repeated = 0, 0, 0
    read_to: dict[tuple[str, str], int] = {}
    for row in rows:
        if row.group is None:
            continue
        if row.what == Kind.POLLED:
            repeated += _again(row, row.group, read_to)
        elif row.what in (Kind.ASSIGNED, Kind.REVOKED):
            member = members.setdefault((row.group, row.process), _Member())
            if row.what == Kind.ASSIGNED:
                generations.add((row.group, row.epoch))
                returns += member.is_away
                quiet += member.is_away and row.epoch == member.generation
            member.take(row)
    return Memberships(len(generations), returns, quiet, repeated)


@dataclass(slots=True)
class _Member:
    generation: int = -1  # the last one that it told
    holds: set[str] = field(default_factory=set)

    @property
    def is_away(self) -> bool:
        """It has been there, and holds nothing."""
        return self.generation >= 0 and not self.holds

    def take(self, row: Row) -> None:
        """What it tells as it leaves may be of no generation."""
        self.generation = max(self.generation, -1 if row.epoch is None else row.epoch)
        if row.what == Kind.ASSIGNED:
            self.holds.add(row.subject)
        else:
            self.holds.discard(row.subject)


def _again(row: Row, group: str, read_to: dict[tuple[str, str], int]) -> int:
    """How many of the records lie before where the group has been."""
    place, begin = (group, row.subject), row.offset or 0
    end, known = begin + len(row.values or ()), read_to.get((group, row.subject), 0)
    read_to[place] = max(known, end)
    return max(0, min(known, end) - begin)
