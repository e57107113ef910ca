"""The way into one broker whose inside can be broken: what it starts with, what it hears later."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.control.server import Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import InsideOrder, to_json
from logquake.cluster.supervisor import zygote
from logquake.cluster.supervisor.line import Done, Line
from logquake.node.net.loop import EventLoop

if TYPE_CHECKING:
    from logquake.cluster.faults.power.taking_back import TakenBack
    from logquake.node.process.broker_process import Surround

    RunBroker = Callable[[zygote.SayReady, Surround], int]

_HOW = "start the cluster with --faults or --links, and without --kafka"


class Inlet:
    """Orders outlive the process: its next start begins with all that stand. So does the record of
    what is not synced, in ``unsynced``.
    """

    def __init__(self, unsynced: Path) -> None:
        self._unsynced = unsynced
        self._orders: dict[str, InsideOrder] = {}
        self._line: Line | None = None

    def launch(self, run: RunBroker, log: Path) -> zygote.ForkedChild:
        """Fork a broker; one that ended is told nothing more."""
        from logquake.cluster.faults.inside import Inside  # the modules of brokers are loaded now

        ours, theirs = socket.socketpair()
        orders = dict(self._orders)

        def run_inside(say_ready: zygote.SayReady) -> int:
            supervisor = socket.socket(fileno=zygote.INHERITED_FD)
            inside = Inside(orders, supervisor, self._unsynced)
            inside.delay_start()
            return run(say_ready, inside.surround)

        with theirs:
            child = zygote.fork(run_inside, log, inherited_fd=theirs.fileno())
        if self._line is not None:
            self._line.close()
        self._line = Line(ours)
        return child

    def stand(self, name: str, order: InsideOrder, loop: EventLoop, done: Done) -> None:
        """``done`` is called when it is in force, or the broker has ended."""
        self._orders[name] = order
        self._tell({"do": "stand", "name": name, "order": to_json(order)}, loop, done)

    def heal(self, name: str, loop: EventLoop, done: Done) -> None:
        """Also one that does not stand."""
        self._orders.pop(name, None)
        self._tell({"do": "heal", "name": name}, loop, done)

    def lose_power(self, unsynced: str, seed: int) -> TakenBack:
        """Its process has ended. Raises OSError; ValueError for a way to lose that there is not."""
        from logquake.cluster.faults.power.taking_back import take_back
        from logquake.cluster.faults.power.unsynced import Unsynced

        return take_back(self._unsynced, Unsynced(unsynced), seed)

    def _tell(self, message: Request, loop: EventLoop, done: Done) -> None:
        if self._line is None:
            done()
        else:
            self._line.tell(message, loop, done)


def inlet_of(inlets: Mapping[str, Inlet], name: str) -> Inlet:
    """Raises ClusterError."""
    inlet = inlets.get(name)
    if inlet is None:
        raise ClusterError(f"nothing can be broken inside {name}: {_HOW}")
    return inlet
