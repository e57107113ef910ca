"""Takes connections from the listening socket, within the quotas, and gives them to the processor.

At max.connections it stops taking: further clients wait in the listen backlog, as with Kafka. The
listener between brokers goes on where clients have listeners of their own, and a connection of
theirs ends for each of its.
Beyond max.connections.per.ip a connection is closed as soon as it is taken. One that comes faster
than max.connection.creation.rate allows is served later, and those behind it are taken after that.
One that comes faster than its address may is held up, unserved, and then closed.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from functools import partial

from logquake.node.journal_events import ACCEPT_FAILED
from logquake.node.net.faults import FaultReports
from logquake.node.net.listener import start_listening
from logquake.node.net.loop import EPOLLIN, EventLoop
from logquake.node.net.processor import Processor
from logquake.node.net.quotas import ConnectionQuotas
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Timer
from logquake.wire.listeners import ListenerName

_MAX_ACCEPTS_PER_PASS = 64
_OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_REST_MS = 500  # without descriptors; until then the backlog holds the clients


class Acceptor:
    """Listens on a bound socket, which it owns from here on, for the listener of that name.

    Raises ListenError.
    """

    def __init__(
        self,
        loop: EventLoop,
        name: ListenerName,
        listener: socket.socket,
        processor: Processor,
        quotas: ConnectionQuotas,
        journal: Journal,
        *,
        backlog: int = 50,
    ) -> None:
        start_listening(listener, backlog, send_buffer_bytes=processor.limits.send_buffer_bytes)
        self._loop = loop
        self._name = name
        self._listener = listener
        self._processor = processor
        self._journal = journal
        self._faults = FaultReports(loop, journal)
        self._quotas = quotas
        self._interest = EPOLLIN
        self._is_open = True
        self._held_up: dict[socket.socket, Timer] = {}
        loop.watch(listener.fileno(), EPOLLIN, self._on_readable)

    @property
    def port(self) -> int:
        """The port listened on, also when the system chose it."""
        port: int = self._listener.getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening; connections stay."""
        if self._is_open:
            self._is_open = False
            self._loop.unwatch(self._listener.fileno())
            self._listener.close()
            for sock, timer in self._held_up.items():
                timer.cancel()
                sock.close()
            self._held_up.clear()

    def _on_readable(self, _events: int) -> None:
        for _ in range(_MAX_ACCEPTS_PER_PASS):
            if not self._quotas.has_room(self._name):
                self._watch(False)
                self._quotas.wait_for_room(lambda: self._watch(True))
                return
            try:
                sock, address = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:
                self._on_accept_error(error)
                return
            delay_ms = self._quotas.delay_ms(self._name)
            if delay_ms:
                self._rest(delay_ms, partial(self._take, sock, address))
                return
            self._take(sock, address)

    def _rest(self, duration_ms: int, then: Callable[[], None] = lambda: None) -> None:
        def go_on() -> None:
            self._watch(True)
            then()

        self._watch(False)
        self._loop.call_later(duration_ms, go_on)

    def _take(self, sock: socket.socket, address: tuple[str, int]) -> None:
        host, port = address[:2]
        if not self._is_open:
            sock.close()
            return
        held_up_ms = self._quotas.held_up_ms(self._name, host)
        if held_up_ms:
            self._hold_up(sock, held_up_ms)
            return
        if not self._quotas.admit(self._name, host):
            sock.close()
            self._faults.report(f"client {host}:{port}", "too many connections from this address")
            return
        sock.setblocking(False)
        self._processor.adopt(
            sock, (host, port), self._name, lambda: self._quotas.release(self._name, host)
        )
        if self._quotas.is_exceeded:
            self._processor.close_longest_idle(spare=self._name)

    def _hold_up(self, sock: socket.socket, for_ms: int) -> None:
        """Whoever comes too fast waits for being sent away, or he would come faster still."""

        def send_away() -> None:
            del self._held_up[sock]
            sock.close()

        self._held_up[sock] = self._loop.call_later(for_ms, send_away)

    def _on_accept_error(self, error: OSError) -> None:
        """A client that is gone again is nothing; without descriptors, rest a while."""
        if error.errno in _OUT_OF_DESCRIPTORS:
            self._journal.record(Event(what=ACCEPT_FAILED, subject="acceptor", why=str(error)))
            self._rest(_REST_MS)

    def _watch(self, wanted: bool) -> None:
        interest = EPOLLIN if wanted else 0
        if self._is_open and interest != self._interest:
            self._interest = interest
            self._loop.rewatch(self._listener.fileno(), interest)
