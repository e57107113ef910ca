"""Brokers that come and go while the cluster runs: added, removed, wiped, replaced.

A broker that goes is killed, or stopped in order where it is removed, and what belongs to it goes
when its process has: its data, with what a loss of power would take back of it.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.cluster.control.server import ControlConnection
from logquake.cluster.errors import ClusterError
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.member import Member
from logquake.cluster.supervisor.rewiring import Rewiring
from logquake.cluster.supervisor.standing_orders import StandingOrders

Then = Callable[[Member], None]


class Membership:
    """``then`` gets a broker that is to be started; a connection is told what went wrong."""

    def __init__(self, fleet: Fleet, orders: StandingOrders, rewiring: Rewiring) -> None:
        self._fleet = fleet
        self._orders = orders
        self._rewiring = rewiring

    def add(self, broker_id: object, then: Then) -> None:
        """Under the next id for None. Raises ClusterError."""
        if not isinstance(broker_id, int | None):
            raise ClusterError(f"{broker_id!r} is no broker's id")
        self._rewiring.require_listeners()
        self._bring_in(self._fleet.add_broker(broker_id), then)

    def remove(self, member: Member, connection: ControlConnection) -> None:
        """Raises ClusterError for the only one."""
        broker_id = _id_of(member)
        self._fleet.require_another(broker_id)

        def ended() -> None:
            self._take_out(member, broker_id)
            self._fleet.remove_broker(broker_id)
            connection.answer(None)

        if member.alive:
            member.stop()
        _when_ended(member, connection, ended)

    def wipe(self, member: Member, connection: ControlConnection, then: Then) -> None:
        """The same machine with an empty disk."""
        broker_id = _id_of(member)

        def ended() -> None:
            self._fleet.empty_broker(broker_id)
            then(member)

        _kill(member, connection, ended)

    def replace(self, member: Member, connection: ControlConnection, then: Then) -> None:
        """Another machine: what was broken inside of this one is gone with it."""
        self._rewiring.require_listeners()
        broker_id = _id_of(member)

        def ended() -> None:
            self._take_out(member, broker_id)
            self._bring_in(self._fleet.replace_broker(broker_id), then)

        _kill(member, connection, ended)

    def _bring_in(self, member: Member, then: Then) -> None:
        self._rewiring.bring_in(_id_of(member), lambda: then(member))

    def _take_out(self, member: Member, broker_id: int) -> None:
        self._orders.drop_member(member.name)
        self._rewiring.take_out(broker_id)


def _kill(member: Member, connection: ControlConnection, ended: Callable[[], None]) -> None:
    if member.alive:
        member.kill()
    _when_ended(member, connection, ended)


def _when_ended(member: Member, connection: ControlConnection, ended: Callable[[], None]) -> None:
    """Nobody is above a process's end to catch what it raises."""

    def try_it() -> None:
        try:
            ended()
        except ClusterError as error:
            connection.refuse(str(error))

    if member.alive:
        member.when_ended(try_it)
    else:
        try_it()


def _id_of(member: Member) -> int:
    """Raises ClusterError."""
    broker_id = member.state().broker_id
    if broker_id is None:
        raise ClusterError(f"{member.name} is no broker")
    return broker_id
