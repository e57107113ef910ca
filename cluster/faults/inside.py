"""In a broker: takes orders from its supervisor, and wraps what the broker is handed.

Orders come as lines of JSON over a socket pair from before the fork, and are carried out between
two events of the broker's own loop: ``{"do": "stand", "name": "f3", "order": {...}}`` and
``{"do": "heal", "name": "f3"}``, each answered with ``{"ok": name}`` once it is in force.
"""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from logquake.cluster.control.server import ControlConnection, Request
from logquake.cluster.faults.disk.faulty_disk import FaultyDisk
from logquake.cluster.faults.disk.strikes import Strikes
from logquake.cluster.faults.orders import (
    DiskOrder,
    InsideOrder,
    Limit,
    Route,
    SkewClock,
    SlowStart,
    StrobeClock,
    from_json,
)
from logquake.cluster.faults.power.record import Record
from logquake.cluster.faults.power.recorded_disk import RecordedDisk
from logquake.cluster.faults.routed_network import RoutedNetwork
from logquake.cluster.faults.skewed_clock import SkewedClock
from logquake.node.net.loop import EventLoop
from logquake.node.outside import Outside
from logquake.storage.disk.real_disk import RealDisk

_RESOURCES = {"memory": resource.RLIMIT_AS, "files": resource.RLIMIT_NOFILE}


class Inside:
    """``standing`` is what was ordered before the process began, ``unsynced`` where the record is
    of what a loss of power would take back.
    """

    def __init__(
        self, standing: Mapping[str, InsideOrder], supervisor: socket.socket, unsynced: Path
    ) -> None:
        self._unsynced = unsynced
        self._standing = dict(standing)
        self._supervisor = ControlConnection(supervisor)
        self._strikes = Strikes()
        self._soft_limits: dict[str, tuple[int, int]] = {}  # resource and its limit, by order
        self._routes: dict[str, str] = {}
        self._route_of_order: dict[str, str] = {}

    def delay_start(self) -> None:
        for order in self._standing.values():
            if isinstance(order, SlowStart):
                time.sleep(order.delay_ms / 1000)

    def surround(self, outside: Outside, loop: EventLoop) -> Outside:
        """A node.process.broker_process.Surround."""
        self._clock = SkewedClock(outside.scheduler)
        for name, order in self._standing.items():
            self._stand(name, order)
        self._supervisor.serve(loop, self._obey, lambda: None)  # its end is the broker's
        recorded = RecordedDisk(RealDisk(), Record(self._unsynced))
        return replace(
            outside,
            disk=FaultyDisk(recorded, self._strikes),
            scheduler=self._clock,
            network=RoutedNetwork(outside.network, self._routes),
        )

    def _obey(self, request: Request, supervisor: ControlConnection) -> None:
        name = str(request["name"])
        if request["do"] == "stand":
            self._stand(name, from_json(request["order"]))
        else:
            self._heal(name)
        supervisor.answer(name)

    def _stand(self, name: str, order: object) -> None:
        match order:
            case DiskOrder():
                self._strikes.add(name, order)
            case SkewClock() | StrobeClock():
                self._clock.add(name, order)
            case Limit():
                self._limit(name, order)
            case Route():
                self._route_of_order[name] = order.told
                self._routes[order.told] = order.dialled

    def _heal(self, name: str) -> None:
        self._routes.pop(self._route_of_order.pop(name, ""), None)
        self._strikes.discard(name)
        self._clock.discard(name)
        if name in self._soft_limits:
            limited, soft = self._soft_limits.pop(name)
            resource.setrlimit(limited, (soft, resource.getrlimit(limited)[1]))

    def _limit(self, name: str, order: Limit) -> None:
        """Of the soft limit alone: an ordinary user can take the hard one back never more."""
        limited = _RESOURCES[order.resource]
        soft, hard = resource.getrlimit(limited)
        self._soft_limits[name] = limited, soft
        resource.setrlimit(limited, (_lower(order.limit, hard), hard))


def _lower(limit: int, hard: int) -> int:
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)
