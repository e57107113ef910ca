"""What drives a client's network core on a host of the simulation, in the place of sockets.

The core's bytes become messages on their way to a broker, and bytes again on their way back: it is
the very core that a program runs. TCP is made at once: what a cut link or a paused process does to
a client shows at its first request.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from logquake.client.driving.driven import Core
from logquake.client.network.effects import Close, Connect, Effect, Resolve, Write
from logquake.client.network.links import Links
from logquake.seams.network import Disconnected
from logquake.seams.scheduler import Timer
from logquake.wire.api import request_type
from logquake.wire.header import (
    LENGTH_BYTES,
    RequestHeader,
    decode_request_header,
)
from logquake.wire.schema import Message, decode
from tests.doubles.link_bytes import tell
from tests.parts import joined
from tests.sim.connection import Connection
from tests.sim.host import Host, HostScheduler
from tests.sim.network import Fabric


class Watch(Protocol):
    """Sees what passes between a client and the brokers, each named by its host."""

    def asked(self, broker: str, request: Message) -> None: ...

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None: ...


class Unwatched:
    def asked(self, broker: str, request: Message) -> None:
        pass

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        pass


class SimDriver:
    """``go_on`` after whatever a client has asked of its core."""

    def __init__(
        self, fabric: Fabric, host: Host, links: Links, core: Core, watch: Watch | None = None
    ) -> None:
        self._fabric = fabric
        self._host = host
        self._scheduler = HostScheduler(host)
        self._links = links
        self._core = core
        self._watch = watch or Unwatched()
        self._connections: dict[int, Connection] = {}
        self._timer: Timer | None = None

    def now_ms(self) -> int:
        return self._scheduler.now_ms()

    def go_on(self) -> None:
        """Do what is due, and what is wanted; be back when the next is due."""
        self._core.poll(self.now_ms())
        while effects := self._links.take_effects():
            for effect in effects:
                self._do(effect)
            self._core.poll(self.now_ms())
        if self._timer is not None:
            self._timer.cancel()
        due_ms = self._core.next_due_ms(self.now_ms())
        self._timer = None
        if due_ms is not None:
            delay_ms = max(1, due_ms - self.now_ms())
            self._timer = self._scheduler.call_later(delay_ms, self.go_on)

    def _do(self, effect: Effect) -> None:
        if isinstance(effect, Resolve):
            self._links.resolved(effect.link, [effect.host], self.now_ms())
        elif isinstance(effect, Connect):
            self._connect(effect)
        elif isinstance(effect, Write):
            self._write(effect)
        elif isinstance(effect, Close) and effect.link in self._connections:
            self._connections.pop(effect.link).lose("closed on this side")

    def _connect(self, wanted: Connect) -> None:
        server = self._fabric.servers[wanted.host, wanted.port]
        self._connections[wanted.link] = Connection(
            self._fabric, self._host, server, self._host.name
        )
        self._links.connected(wanted.link, self.now_ms())

    def _write(self, wanted: Write) -> None:
        frame = memoryview(bytearray(joined(wanted.parts)))[LENGTH_BYTES:]
        header, start = decode_request_header(frame)
        request = request_type(header.api_key)
        if request is None:
            raise ValueError(f"no API has key {header.api_key}")
        body = decode(request, header.api_version, frame, start)
        connection = self._connections[wanted.link]
        self._watch.asked(connection.server_name, body)
        answered = partial(self._on_answer, wanted.link, header, connection.server_name, body)
        connection.send(body, header.api_version, answered)
        self._links.written(wanted.link)

    def _on_answer(
        self,
        link: int,
        header: RequestHeader,
        broker: str,
        request: Message,
        answer: Message | Disconnected,
    ) -> None:
        self._watch.answered(broker, request, answer)
        if isinstance(answer, Disconnected):
            self._links.lost(link, answer.reason, self.now_ms())
        else:
            tell(self._links, link, header, answer, self.now_ms())
        self.go_on()
