"""The way into one broker whose inside can be broken: what it starts with, what it hears later."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from logquake.cluster.control.server import ControlConnection, Request
from logquake.cluster.errors import ClusterError
from logquake.cluster.faults.orders import InsideOrder, to_json
from logquake.cluster.supervisor import zygote
from logquake.node.net.loop import EventLoop

if TYPE_CHECKING:
    from logquake.cluster.faults.power.taking_back import TakenBack
    from logquake.node.process.broker_process import Surround

    RunBroker = Callable[[zygote.SayReady, Surround], int]

Done = Callable[[], None]

_HOW = "start the cluster with --faults, or with --links"


class Inlet:
    """Orders outlive the process: its next start begins with all that stand. So does the record of
    what is not synced, in ``unsynced``.
    """

    def __init__(self, unsynced: Path) -> None:
        self._unsynced = unsynced
        self._orders: dict[str, InsideOrder] = {}
        self._line: _Line | None = None

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
        self._line = _Line(ours)
        return child

    def stand(self, name: str, order: InsideOrder, loop: EventLoop, done: Done) -> None:
        """``done`` is called when it is in force, or the broker has ended."""
        self._orders[name] = order
        self._tell({"do": "stand", "name": name, "order": to_json(order)}, loop, done)

    def heal(self, name: str, loop: EventLoop, done: Done) -> None:
        del self._orders[name]
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


class _Line:
    """A connection to one process, from its fork to its end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = ControlConnection(connection)
        self._is_served = False  # nothing comes before something was said
        self._is_over = False
        self._waiting: deque[Done] = deque()

    def tell(self, message: dict[str, Any], loop: EventLoop, done: Done) -> None:
        if self._is_over:
            done()
            return
        if not self._is_served:
            self._connection.serve(loop, self._on_answer, self._on_closed)
            self._is_served = True
        self._waiting.append(done)
        self._connection.send(message)

    def close(self) -> None:
        """Of a process that has ended, whose socket says so to whom it is served."""
        if not self._is_served:
            self._connection.close()

    def _on_answer(self, _answer: Request, _connection: ControlConnection) -> None:
        self._waiting.popleft()()

    def _on_closed(self) -> None:
        self._is_over = True
        while self._waiting:
            self._waiting.popleft()()
