"""What the process of the links runs: doors, the connections through them, the faults that hold.

A fault belongs to the control connection that it was asked for on, unless it says otherwise, and
ends with it: so whoever breaks something and is killed leaves nothing broken.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.board import Board, HeldFault
from logquake.cluster.links.connection import Connection, reset_at_close
from logquake.cluster.links.door import Door, Manner
from logquake.cluster.links.effects import LinkFault
from logquake.cluster.links.plan import Address, Link, LinkPlan
from logquake.cluster.links.requests.injections import Injections
from logquake.cluster.links.requests.rules import REQUEST, RequestFault
from logquake.cluster.links.target import Target
from logquake.cluster.supervisor.control_server import ControlConnection, ControlServer, Request
from logquake.node.net.loop import EventLoop
from logquake.node.process.descriptors import raise_limit

_SCRATCH_BYTES = 256 * 1024


def run_links(plan: LinkPlan, control_socket: Path, ready: Callable[[], None]) -> int:
    """Be the links until killed; ``ready`` is called once each address does as its target does."""
    raise_limit()  # two descriptors a connection
    loop = EventLoop()
    links = LinksProcess(loop, plan, Random(), ready)
    ControlServer(control_socket, loop, links.handle, links.on_asker_gone)
    loop.run()
    return 0


class LinksProcess:
    def __init__(
        self,
        loop: EventLoop,
        plan: LinkPlan,
        random: Random,
        ready: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._plan = plan
        self._random = random
        self._ready: Callable[[], None] | None = ready
        self._injections = Injections()
        self._scratch = memoryview(bytearray(_SCRATCH_BYTES))
        self._connections: set[Connection] = set()
        self.board = Board(plan.ends, self._on_faults_changed)
        self._targets = self._make_targets(plan)
        self._doors = [
            (link, Door(loop, link.listens, partial(self._on_entered, link))) for link in plan.links
        ]

    # What is asked of it

    def handle(self, request: Request, asker: ControlConnection) -> None:
        try:
            if request.get("do") == "await":
                self._injections.when_met(int(request["id"]), int(request["times"]), asker.answer)
            else:
                asker.answer(self._answer(request, asker))
        except ClusterError as error:
            asker.refuse(str(error))
        except (KeyError, TypeError, ValueError) as error:
            asker.refuse(f"not understood: {request} ({error!r})")

    def on_asker_gone(self, asker: ControlConnection) -> None:
        self.board.heal_those_of(asker)

    def _answer(self, request: Request, asker: ControlConnection) -> Any:
        verb = request.get("do")
        if verb == "begin":
            return self._begin(request, asker)
        if verb == "heal":
            return self.board.heal(int(request["id"]))
        if verb == "heal-all":
            return self.board.heal_all()
        if verb == "list":
            return [self._told(held) for held in self.board.held]
        if verb == "hits":
            return self._injections.hits(int(request["id"]))
        raise ClusterError(f"no command {verb!r}")

    def _begin(self, request: Request, asker: ControlConnection) -> dict[str, Any]:
        fault = self._read_fault(request["fault"])
        since_ms, for_ms = self._loop.wall_ms(), request.get("for_ms")
        held = self.board.begin(
            fault,
            owner=None if request.get("stays") else asker,
            since_ms=since_ms,
            until_ms=None if for_ms is None else since_ms + int(for_ms),
        )
        if for_ms is not None:
            self._loop.call_later(float(for_ms), lambda: self._heal_in_time(held.id))
        return held.to_json()

    def _read_fault(self, document: dict[str, Any]) -> LinkFault | RequestFault:
        if document.get("kind") != REQUEST:
            return LinkFault.from_json(document)
        fault = RequestFault.from_json(document)
        self.board.require_ends(fault.ends)
        if not any(
            link.carries_requests and fault.is_on(link.dialler, link.dialled)
            for link in self._plan.links
        ):
            raise ClusterError(
                f"no requests that can be read go {fault.path}: they go to brokers, and what is "
                "encrypted (--secure) hides them"
            )
        return fault

    def _told(self, held: HeldFault) -> dict[str, Any]:
        hits = self._injections.hits_of(held.id)
        return held.to_json() if hits is None else {**held.to_json(), "hits": hits}

    def _heal_in_time(self, fault_id: int) -> None:
        self.board.heal(fault_id)

    # Doors

    def _make_targets(self, plan: LinkPlan) -> dict[Address, Target]:
        addresses = dict.fromkeys(link.leads_to for link in plan.links)
        return {
            address: Target(self._loop, address, partial(self._on_target_changed, address))
            for address in addresses
        }

    def _on_target_changed(self, address: Address) -> None:
        for link, door in self._doors:
            if link.leads_to == address:
                door.set(self._manner(link))
        if self._ready is not None and all(each.was_asked for each in self._targets.values()):
            ready, self._ready = self._ready, None
            ready()

    def _manner(self, link: Link) -> Manner:
        """That nothing passes hides what the target does."""
        if self.board.is_reset(link.dialler, link.dialled):
            return Manner.REFUSING
        if self.board.is_silent(link.dialler, link.dialled):
            return Manner.SILENT
        return Manner.OPEN if self._targets[link.leads_to].accepts else Manner.REFUSING

    def _on_faults_changed(self) -> None:
        for connection in list(self._connections):
            connection.obey(self.board)
        for link, door in self._doors:
            door.set(self._manner(link))
        self._injections.hold(
            {
                held.id: held.fault
                for held in self.board.held
                if isinstance(held.fault, RequestFault)
            }
        )
        for connection in self._connections:
            connection.offer(self._injections.intercept)

    # Connections

    def close(self) -> None:
        """Nothing is passed on any more, and nobody is let in."""
        for connection in list(self._connections):
            connection.reset()
        for _, door in self._doors:
            door.close()
        for target in self._targets.values():
            target.close()

    def _on_entered(self, link: Link, dialler_side: socket.socket) -> None:
        def refused() -> None:
            reset_at_close(dialler_side)
            dialler_side.close()

        self._targets[link.leads_to].dial(partial(self._put_through, link, dialler_side), refused)

    def _put_through(
        self, link: Link, dialler_side: socket.socket, dialled_side: socket.socket
    ) -> None:
        connection = Connection(
            self._loop,
            link,
            dialler_side,
            dialled_side,
            self._random,
            self._scratch,
            before_end=self._targets[link.leads_to].ask,
            over=self._connections.discard,
        )
        self._connections.add(connection)
        connection.offer(self._injections.intercept)
        connection.obey(self.board)
