"""What is broken inside members at the moment, by whose order, and until when.

An order belongs to the connection that gave it, and is healed when that ends, however its owner
did; one that ``stays`` outlives it. After ``for_s`` seconds it is healed in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

from logquake.cluster.control.server import ControlConnection, Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import DieAtCall, Order, Starve, described, from_json, to_json
from logquake.cluster.state import Phase
from logquake.cluster.supervisor.inlet import Inlet, inlet_of
from logquake.cluster.supervisor.member import Member
from logquake.cluster.supervisor.starving import Starving
from logquake.node.net.loop import EventLoop

Done = Callable[[], None]


@dataclass(frozen=True, slots=True)
class _Standing:
    member: str
    order: Order
    since_ms: int  # wall clock, as until_ms
    until_ms: int | None
    owner: ControlConnection | None
    undo: Callable[[Done], None]  # calls what it is given once it is undone


class StandingOrders:
    """Members of a cluster without ``faults`` have no inlet: only their processes can be hurt."""

    def __init__(self, inlets: dict[str, Inlet], loop: EventLoop) -> None:
        self._inlets = inlets
        self._loop = loop
        self._names = (f"f{number}" for number in count(1))
        self._standing: dict[str, _Standing] = {}

    def give(self, request: Request, member: Member, giver: ControlConnection) -> None:
        """Answer with the order's name once it is in force. Raises ClusterError."""
        order, for_s = from_json(request.get("order")), request.get("for_s")
        if not isinstance(for_s, int | float | None):
            raise ClusterError(f"for_s={for_s!r} is no time in seconds")
        name = next(self._names)
        undo = self._begin(name, order, member, lambda: giver.answer(name))
        owner = None if request.get("stays") else giver
        since_ms, until_ms = self._loop.wall_ms(), None
        if for_s is not None:
            until_ms = since_ms + int(1000 * for_s)
            self._loop.call_later(1000 * for_s, lambda: self._heal(name, lambda: None))
        self._standing[name] = _Standing(member.name, order, since_ms, until_ms, owner, undo)

    def heal(self, name: str | None, asker: ControlConnection) -> None:
        """One, or all; answer with how many there were once they are over."""
        names = [one for one in self._standing if name in (None, one)]
        left = len(names)

        def one_done() -> None:
            nonlocal left
            left -= 1
            if left == 0:
                asker.answer(len(names))

        if not names:
            asker.answer(0)
        for each in names:
            self._heal(each, one_done)

    def drop_owner(self, owner: ControlConnection) -> None:
        """Heal what belongs to a connection that has ended."""
        for name in [name for name, one in self._standing.items() if one.owner is owner]:
            self._heal(name, lambda: None)

    def drop_member(self, member: str) -> None:
        """Heal what was ordered of one that has ended for good."""
        for name in [name for name, one in self._standing.items() if one.member == member]:
            self._heal(name, lambda: None)

    def listed(self) -> list[dict[str, Any]]:
        return [
            {
                "id": name,
                "what": f"{one.member}: {described(one.order)}",
                "since_ms": one.since_ms,
                "until_ms": one.until_ms,
                "member": one.member,
                "stays": one.owner is None,
                "order": to_json(one.order),
            }
            for name, one in self._standing.items()
        ]

    def _begin(self, name: str, order: Order, member: Member, done: Done) -> Callable[[Done], None]:
        """Begin what was ordered; how it is undone. Raises ClusterError."""
        if isinstance(order, Starve):
            starving = Starving(member, order, self._loop)
            done()
            return starving.end
        inlet = inlet_of(self._inlets, member.name)
        if isinstance(order, DieAtCall):
            member.when_ended(lambda: self._heal(name, lambda: None))
        inlet.stand(name, order, self._loop, unless_paused(member, done))
        return lambda undone: inlet.heal(name, self._loop, unless_paused(member, undone))

    def _heal(self, name: str, done: Done) -> None:
        one = self._standing.pop(name, None)
        if one is None:
            done()
        else:
            one.undo(done)


def unless_paused(member: Member, done: Done) -> Done:
    """Who is frozen obeys when it goes on: nobody waits for that."""
    if member.state().phase is not Phase.PAUSED:
        return done
    done()
    return lambda: None
