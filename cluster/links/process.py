"""What the process of the links runs: doors, and the connections through them."""

from __future__ import annotations

import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random

from logquake.cluster.control.server import ControlConnection, ControlServer, Request
from logquake.cluster.links.board import Board
from logquake.cluster.links.commands import LinkCommands
from logquake.cluster.links.connection import Connection, reset_at_close
from logquake.cluster.links.door import Door, Manner
from logquake.cluster.links.plan import Address, Link, LinkPlan
from logquake.cluster.links.requests.injections import Injections
from logquake.cluster.links.requests.rules import RequestFault
from logquake.cluster.links.requests.watching import Watch
from logquake.cluster.links.target import Target
from logquake.node.net.loop import EventLoop
from logquake.node.process.descriptors import raise_limit

_SCRATCH_BYTES = 256 * 1024


def run_links(
    plan: LinkPlan, control_socket: Path, supervisor: socket.socket, ready: Callable[[], None]
) -> int:
    """Be the links until killed; ``ready`` is called once each address does as its target does."""
    raise_limit()  # two descriptors a connection
    loop = EventLoop()
    links = LinksProcess(loop, plan, Random(), ready)
    ControlConnection(supervisor).serve(loop, links.obey, lambda: None)  # its end is ours
    commands = LinkCommands(loop, lambda: links.plan, links.board, links.injections)
    ControlServer(control_socket, loop, commands.handle, commands.heal_those_of)
    loop.run()
    return 0


class LinksProcess:
    """``ready`` is called once. What holds on ``board`` is done to all connections."""

    def __init__(
        self, loop: EventLoop, plan: LinkPlan, random: Random, ready: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._random = random
        self._ready: Callable[[], None] | None = ready
        self.injections = Injections()
        self._scratch = memoryview(bytearray(_SCRATCH_BYTES))
        self._connections: set[Connection] = set()
        self.board = Board(plan.ends, self._on_faults_changed)
        self._targets: dict[Address, Target] = {}
        self._doors: list[tuple[Link, Door]] = []
        self.lay(plan)

    @property
    def plan(self) -> LinkPlan:
        return LinkPlan(tuple(link for link, _ in self._doors))

    # Links that come and go

    def obey(self, request: Request, supervisor: ControlConnection) -> None:
        """``lay`` links, or ``take-up`` those of an end."""
        if request["do"] == "lay":
            self.lay(LinkPlan.from_json(request["links"]))
        else:
            self.take_up(str(request["end"]))
        supervisor.answer(None)

    def lay(self, plan: LinkPlan) -> None:
        """More links."""
        for link in plan.links:
            address = link.leads_to
            if address not in self._targets:
                changed = partial(self._on_target_changed, address)
                self._targets[address] = Target(self._loop, address, changed)
            door = Door(self._loop, link.listens, partial(self._on_entered, link))
            self._doors.append((link, door))
        self._on_plan_changed()

    def take_up(self, end: str) -> None:
        """Those that end there, with all connections through them."""
        gone = self.plan.of(end).links
        for connection in list(self._connections):
            if end in (connection.dialler, connection.dialled):
                connection.reset()
        for link, door in self._doors:
            if link in gone:
                door.close()
        self._doors = [(link, door) for link, door in self._doors if link not in gone]
        led_to = {link.leads_to for link, _ in self._doors}
        for address in [address for address in self._targets if address not in led_to]:
            self._targets.pop(address).close()
        self._on_plan_changed()

    def _on_plan_changed(self) -> None:
        self.board.ends = self.plan.ends
        for link, door in self._doors:
            door.set(self._manner(link))

    # Doors

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
        faults = {held.id: held.fault for held in self.board.held}
        self.injections.hold(
            {each: one for each, one in faults.items() if isinstance(one, RequestFault)}
        )
        self.injections.watch({each: one for each, one in faults.items() if isinstance(one, Watch)})
        for connection in self._connections:
            connection.offer(self.injections.intercept)

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
        target = self._targets[link.leads_to]

        def refused() -> None:
            reset_at_close(dialler_side)
            dialler_side.close()

        target.dial(partial(self._put_through, link, target, dialler_side), refused)

    def _put_through(
        self, link: Link, target: Target, dialler_side: socket.socket, dialled_side: socket.socket
    ) -> None:
        connection = Connection(
            self._loop,
            link,
            dialler_side,
            dialled_side,
            self._random,
            self._scratch,
            before_end=target.ask,
            over=self._connections.discard,
        )
        self._connections.add(connection)
        connection.offer(self.injections.intercept)
        connection.obey(self.board)
