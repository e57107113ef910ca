"""The network between hosts: connections that keep order, links that can be cut, dead peers.

A cut link swallows nothing by itself, as TCP does not: what was sent arrives when the link heals,
unless the sender's patience ends first and the connection with it. A process that dies breaks its
connections, and its system refuses others; a paused one does not answer, while its system accepts.
What is under way when a connection breaks may still arrive, and be served for nobody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from logquake.seams.network import Disconnected
from logquake.wire.header import RequestHeader
from logquake.wire.schema import Message
from tests.sim.clock import Clock
from tests.sim.delays import Delays, Wire
from tests.sim.host import Host
from tests.sim.payloads import Payloads

Done = Callable[[Message | Disconnected], None]
Reply = Callable[[Message | None], None]


class Server(Protocol):
    """A process that may listen; ``host`` tells whether it is alive.

    serve() answers whether the connection's next request of the same API may follow at once.
    """

    host: Host
    listening: bool

    def serve(self, header: RequestHeader, body: Message, client: str, reply: Reply) -> bool: ...


class Fabric:
    """All servers and links. A link is cut in one direction; a connection needs both."""

    def __init__(self, clock: Clock, delays: Delays, payloads: Payloads) -> None:
        self.clock = clock
        self.delays = delays
        self.payloads = payloads
        self.servers: dict[tuple[str, int], Server] = {}
        self._cuts: set[tuple[str, str]] = set()
        self._rejections: set[tuple[str, str]] = set()
        self._slow_us: dict[str, int] = {}
        self._links: dict[tuple[str, str], list[Link]] = {}

    def link(self, source: str, target: str) -> Link:
        """A new wire along a link."""
        link = Link(self, source, target)
        self._links.setdefault((source, target), []).append(link)
        return link

    def drop(self, link: Link) -> None:
        self._links[link.source, link.target].remove(link)

    def cut(self, source: str, target: str) -> None:
        self._cuts.add((source, target))

    def heal(self, source: str, target: str) -> None:
        """What was held goes on its way."""
        if (source, target) in self._cuts:
            self._cuts.discard((source, target))
            for link in self._links.get((source, target), []):
                link.resend()

    def slow_down(self, host: str, by_us: int) -> None:
        """It is so far away from all others, from now on."""
        self._slow_us[host] = by_us

    def slowness_us(self, source: str, target: str) -> int:
        slow_us = self._slow_us
        return slow_us.get(source, 0) + slow_us.get(target, 0) if slow_us else 0

    def reject(self, source: str, target: str) -> None:
        """As a firewall that answers in the target's name: connections are reset and refused."""
        self._rejections.add((source, target))
        for server in self.servers.values():
            if server.host.name == target:
                server.host.reset()

    def accept(self, source: str, target: str) -> None:
        self._rejections.discard((source, target))

    def rejects(self, source: str, target: str) -> bool:
        return (source, target) in self._rejections

    def passes(self, source: str, target: str) -> bool:
        return (source, target) not in self._cuts


class Link:
    """One connection's use of the way from one host to another."""

    def __init__(self, fabric: Fabric, source: str, target: str) -> None:
        self.source = source
        self.target = target
        self._fabric = fabric
        self._wire = Wire(fabric.clock, self)

    def one_way_us(self) -> int:
        return self._fabric.delays.one_way_us() + self._fabric.slowness_us(self.source, self.target)

    def send(self, what: str, arrive: Callable[[], None]) -> None:
        self._wire.send(f"{self.source} -> {self.target} {what}", arrive, self._open)

    def resend(self) -> None:
        self._wire.resend(self._open)

    def close(self) -> None:
        """The connection is over: what a cut holds back is never sent again."""
        if not self._open():
            self._wire.clear()
        self._fabric.drop(self)

    def _open(self) -> bool:
        return self._fabric.passes(self.source, self.target)
