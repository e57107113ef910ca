"""Links to brokers that come and go while others run: proxies are laid, the others find theirs."""

from __future__ import annotations

from collections.abc import Callable

from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import Route
from logquake.cluster.state import LINKS, broker_name
from logquake.cluster.supervisor.fleet import Fleet
from logquake.cluster.supervisor.standing_orders import unless_paused
from logquake.node.net.loop import EventLoop

Done = Callable[[], None]


class Rewiring:
    """Nothing is done in a cluster without links."""

    def __init__(self, fleet: Fleet, loop: EventLoop) -> None:
        self._fleet = fleet
        self._loop = loop

    def require_listeners(self) -> None:
        """Raises ClusterError: Apache Kafka's brokers know the ways of their start alone."""
        if self._fleet.making.links is not None and not self._fleet.making.inlets:
            raise ClusterError("these brokers find no proxy to a newcomer: start without --links")

    def bring_in(self, broker_id: int, then: Done) -> None:
        """Of a broker that has ports; ``then`` it may be started: the others know the way."""
        links = self._fleet.making.links
        if links is None:
            then()
            return
        routes = links.routes_to(broker_id)
        told = _once_called(1 + len(routes), then)
        laid = links.plan_of(broker_id).to_json()
        links.tell({"do": "lay", "links": laid}, self._loop, self._when_told(LINKS, told))
        for peer, (address, dialled) in routes.items():
            name = broker_name(peer)
            inlet = self._fleet.making.inlets[name]
            order = Route(address, dialled)
            inlet.stand(_route_name(broker_id), order, self._loop, self._when_told(name, told))

    def take_out(self, broker_id: int) -> None:
        """Of a broker that has ended for good."""
        links = self._fleet.making.links
        if links is not None:
            links.tell({"do": "take-up", "end": broker_name(broker_id)}, self._loop, _nothing)
            for inlet in self._fleet.making.inlets.values():
                inlet.heal(_route_name(broker_id), self._loop, _nothing)

    def _when_told(self, name: str, told: Done) -> Done:
        return unless_paused(self._fleet.members[name], told)


def _route_name(broker_id: int) -> str:
    return f"route-to-{broker_name(broker_id)}"


def _once_called(times: int, then: Done) -> Done:
    left = times

    def called() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            then()

    return called


def _nothing() -> None: ...
