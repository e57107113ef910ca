"""What may be asked of a running supervisor: a verb, mostly with the name of a member.

``kill`` and ``stop`` are answered once the process has ended: its port then refuses. ``start``
and ``restart`` are answered once the broker is ready (starts.py), or, with ``wait`` false, at once.
``order`` breaks something inside a member until ``heal`` (standing_orders.py), ``power-loss`` kills
brokers and takes back what they had not synced (power_cut.py). ``add``, ``remove``, ``wipe`` and
``replace`` change who is in the cluster (membership.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

from logquake.cluster.control.server import ControlConnection, Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.member import Member
from logquake.cluster.supervisor.membership import Membership
from logquake.cluster.supervisor.power_cut import cut_power
from logquake.cluster.supervisor.standing_orders import StandingOrders
from logquake.cluster.supervisor.starts import Starts

Done = Callable[[], None]


class ShutDown(Protocol):
    def __call__(self, *, remove: bool, at_once: bool, done: Done) -> None: ...


class Commands:
    """Requests to calls, outcomes to answers."""

    def __init__(
        self,
        fleet: Fleet,
        shut_down: ShutDown,
        detach: Done,
        starts: Starts,
        orders: StandingOrders,
        membership: Membership,
    ) -> None:
        self._fleet = fleet
        self._shut_down = shut_down
        self._detach = detach
        self._starts = starts
        self._orders = orders
        self._membership = membership

    def handle(self, request: Request, connection: ControlConnection) -> None:
        try:
            self._dispatch(request, connection)
        except ClusterError as error:
            connection.refuse(str(error))

    def _dispatch(self, request: Request, connection: ControlConnection) -> None:
        verb = str(request.get("do"))
        if verb == "status":
            connection.answer(self._fleet.state().to_json())
        elif verb == "shutdown":
            self._shut_down(
                remove=bool(request.get("remove")),
                at_once=bool(request.get("at_once")),
                done=lambda: connection.answer(None),
            )
        elif verb == "detach":
            self._detach()
            connection.answer(None)
        elif verb == "order":
            self._orders.give(request, self._member(str(request.get("member"))), connection)
        elif verb == "heal":
            self._orders.heal(request.get("name"), connection)
        elif verb == "orders":
            connection.answer(self._orders.listed())
        elif verb == "power-loss":
            brokers = {member.name: member for member in self._fleet.brokers}
            cut_power(request, brokers, self._fleet.making.inlets, connection)
        elif verb in _MEMBERSHIP_VERBS:
            self._change_membership(verb, request, connection)
        elif verb in _STARTING_VERBS:
            member = self._member(str(request.get("member")))
            wait = bool(request.get("wait", True))
            _STARTING_VERBS[verb](member, lambda: self._start(member, connection, wait=wait))
        elif verb in _MEMBER_VERBS:
            member = self._member(str(request.get("member")))
            _MEMBER_VERBS[verb](member, lambda: connection.answer(None))
        else:
            raise ClusterError(f"no command {verb!r}")

    def _start(self, member: Member, connection: ControlConnection, *, wait: bool) -> None:
        def ended() -> None:
            said = self._fleet.last_words(member)
            connection.refuse(f"{member.name} ended before it was ready: {said}")

        member.start()
        if wait:
            self._starts.follow(member, lambda: connection.answer(member.name), ended)
        else:
            self._starts.follow(member)
            connection.answer(member.name)

    def _change_membership(
        self, verb: str, request: Request, connection: ControlConnection
    ) -> None:
        start = partial(self._start, connection=connection, wait=bool(request.get("wait", True)))
        if verb == "add":
            self._membership.add(request.get("id"), start)
            return
        member = self._member(str(request.get("member")))
        if verb == "remove":
            self._membership.remove(member, connection)
        elif verb == "wipe":
            self._membership.wipe(member, connection, start)
        else:
            self._membership.replace(member, connection, start)

    def _member(self, name: str) -> Member:
        member = self._fleet.members.get(name)
        if member is None:
            raise ClusterError(f"no {name} here: there are {', '.join(self._fleet.members)}")
        return member


def _kill(member: Member, done: Done) -> None:
    member.kill()
    member.when_ended(done)


def _stop(member: Member, done: Done) -> None:
    member.stop()
    member.when_ended(done)


def _end_if_alive(member: Member, then: Done) -> None:
    if member.alive:
        _stop(member, then)
    else:
        then()


def _pause(member: Member, done: Done) -> None:
    member.pause()
    done()


def _resume(member: Member, done: Done) -> None:
    member.resume()
    done()


_MEMBERSHIP_VERBS = frozenset({"add", "remove", "wipe", "replace"})
_STARTING_VERBS: dict[str, Callable[[Member, Done], None]] = {
    "start": lambda _member, start: start(),
    "restart": _end_if_alive,
}
_MEMBER_VERBS: dict[str, Callable[[Member, Done], None]] = {
    "kill": _kill,
    "stop": _stop,
    "pause": _pause,
    "resume": _resume,
}
