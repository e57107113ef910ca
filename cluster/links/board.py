"""The faults of links that hold: who asked for each, and what they come to for a direction."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.effects import Conditions, Cut, LinkFault, Reset, means, together


class AnyFault(Protocol):
    """Of links, or of requests on them."""

    @property
    def ends(self) -> frozenset[str]: ...

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class HeldFault:
    """A fault that holds. ``owner`` takes it along when it goes; None lets it stay."""

    id: int
    fault: AnyFault
    owner: Hashable | None
    since_ms: int  # wall clock
    until_ms: int | None

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "since_ms": self.since_ms,
            "until_ms": self.until_ms,
            "what": str(self.fault),
            **self.fault.to_json(),
        }


class Board:
    """``ends`` are the names that links have now; ``changed`` is called after every change."""

    def __init__(self, ends: frozenset[str], changed: Callable[[], None]) -> None:
        self.ends = ends
        self._changed = changed
        self._ids = count(1)
        self._held: dict[int, HeldFault] = {}

    @property
    def held(self) -> list[HeldFault]:
        return list(self._held.values())

    def begin(
        self, fault: AnyFault, *, owner: Hashable | None, since_ms: int, until_ms: int | None
    ) -> HeldFault:
        """Raises ClusterError for an end that no link has."""
        self.require_ends(fault.ends)
        held = HeldFault(next(self._ids), fault, owner, since_ms, until_ms)
        self._held[held.id] = held
        self._changed()
        return held

    def require_ends(self, ends: frozenset[str]) -> None:
        """Raises ClusterError for one that no link has."""
        for end in sorted(ends):
            if not any(means(end, known) for known in self.ends):
                known = ", ".join(sorted(self.ends))
                raise ClusterError(f"no link ends at {end}: there are {known}")

    def heal(self, fault_id: int) -> bool:
        """Whether it held; one that was healed before is no error."""
        if self._held.pop(fault_id, None) is None:
            return False
        self._changed()
        return True

    def heal_all(self) -> int:
        """How many held."""
        healed, self._held = len(self._held), {}
        self._changed()
        return healed

    def heal_those_of(self, owner: Hashable) -> None:
        for held in self.held:
            if held.owner == owner:
                self.heal(held.id)

    def conditions(self, source: str, target: str) -> Conditions:
        """What holds for bytes from one end to another."""
        return together(
            (fault_id, fault.effect)
            for fault_id, fault in self._link_faults()
            if fault.acts_on(source, target)
        )

    def is_silent(self, one: str, other: str) -> bool:
        """Whether a connection between them cannot be made, for want of any answer."""
        return self._holds(Cut, one, other)

    def is_reset(self, one: str, other: str) -> bool:
        return self._holds(Reset, one, other)

    def _holds(self, effect: type[Cut | Reset], one: str, other: str) -> bool:
        return any(
            isinstance(fault.effect, effect)
            and (fault.acts_on(one, other) or fault.acts_on(other, one))
            for _, fault in self._link_faults()
        )

    def _link_faults(self) -> Iterator[tuple[int, LinkFault]]:
        for held in self._held.values():
            if isinstance(held.fault, LinkFault):
                yield held.id, held.fault
