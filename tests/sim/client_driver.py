"""What drives a client's network core on a host of the simulation, in the place of sockets.

The core's bytes become messages on their way to a broker, and bytes again on their way back: it is
the very core that a program runs. TCP is made at once: what a cut link or a paused process does to
a client shows at its first request.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from logquake.client.driving.driven import Core
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import ClientError
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

NO_PATIENCE_US = 60_000_000  # a client has time-outs of its own
Ended = Callable[[Any, ClientError | None], None]


class Watch(Protocol):
    """Sees what passes between a client and the brokers, each named by its host."""

    def asked(self, broker: str, request: Message) -> None: ...

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None: ...


class Unwatched:
    def asked(self, broker: str, request: Message) -> None:
        pass

    def answered(self, broker: str, request: Message, answer: Message | Disconnected) -> None:
        pass


class _Going:
    """A call of the program's that waits. ``ended`` is told what it returned, or why it failed."""

    def __init__(self, steps: Steps[Any], ended: Ended) -> None:
        self.steps = steps
        self.ended = ended
        self.wait: Wait | None = None


class SimDriver:
    """``go_on`` after whatever a client has asked of its core; ``tell`` is called in each pass."""

    def __init__(
        self,
        fabric: Fabric,
        host: Host,
        links: Links,
        core: Core,
        watch: Watch | None = None,
        tell: Callable[[], bool] = lambda: False,
    ) -> None:
        self._fabric = fabric
        self._host = host
        self._scheduler = HostScheduler(host)
        self._links = links
        self._core = core
        self._watch = watch or Unwatched()
        self._tell = tell
        self._connections: dict[int, Connection] = {}
        self._timer: Timer | None = None
        self._due_ms: int | None = None
        self._call: _Going | None = None
        self._is_going_on = False

    def now_ms(self) -> int:
        return self._scheduler.now_ms()

    def run(self, steps: Steps[Any], ended: Ended) -> None:
        """Carry out a call of the program's; one at a time."""
        if self._call is not None:
            raise RuntimeError("a program calls one thing at a time")
        self._call = _Going(steps, ended)
        self._resume(self._call, partial(next, steps))
        self.go_on()

    def go_on(self) -> None:
        """Do what is due, and what is wanted; be back when the next is due."""
        if self._is_going_on:
            return  # and will look again
        if self._due_ms is not None and self._due_ms < self.now_ms():
            # The process was paused: first it hears of all that came meanwhile.
            self._set_timer(0, self._go_round)
        else:
            self._go_round()

    def _go_round(self) -> None:
        self._is_going_on = True
        try:
            while self._pass():
                pass
        finally:
            self._is_going_on = False
        due = [self._core.next_due_ms(self.now_ms())]
        if self._call is not None and self._call.wait is not None:
            due.append(self._call.wait.deadline_ms)
        due_ms = min((each for each in due if each is not None), default=None)
        self._due_ms = None if due_ms is None else max(due_ms, self.now_ms() + 1)
        delay_ms = None if self._due_ms is None else self._due_ms - self.now_ms()
        self._set_timer(delay_ms, self.go_on)

    def _set_timer(self, delay_ms: int | None, action: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if delay_ms is None else self._scheduler.call_later(delay_ms, action)

    def _pass(self) -> bool:
        """Whether something may have come of it."""
        self._core.poll(self.now_ms())
        effects = self._links.take_effects()
        for effect in effects:
            self._do(effect)
        was_told = self._tell()
        return self._look_at_call() or bool(effects) or (was_told and self._is_due())

    def _is_due(self) -> bool:
        """What was told had the core do something at once: an assignor has assigned."""
        due_ms = self._core.next_due_ms(self.now_ms())
        return due_ms is not None and due_ms <= self.now_ms()

    def _look_at_call(self) -> bool:
        """Whether it went on."""
        call = self._call
        if call is None or call.wait is None:
            return False
        is_done = call.wait.is_done()
        if not is_done and self.now_ms() < call.wait.deadline_ms:
            return False
        call.wait = None
        self._resume(call, partial(call.steps.send, is_done))
        return True

    def _resume(self, call: _Going, take: Callable[[], Wait | Call]) -> None:
        """Until it waits, or has ended."""
        while True:
            try:
                step = take()
            except StopIteration as end:
                self._end(call, end.value, None)
                return
            except ClientError as error:
                self._end(call, None, error)
                return
            if isinstance(step, Wait):
                call.wait = step
                return
            take = partial(call.steps.send, step.function())

    def _end(self, call: _Going, value: object, error: ClientError | None) -> None:
        self._call = None
        call.ended(value, error)

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
            self._fabric, self._host, server, self._host.name, NO_PATIENCE_US
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
