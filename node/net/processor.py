"""All connections of a broker: what they share, and who is closed for being idle or at fault."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import MappingProxyType

from logquake.node.net.admittance import OPEN, Admittance, Admittances, NotAdmittedError
from logquake.node.net.connection import Connection
from logquake.node.net.faults import FaultReports
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.node.net.memory import MemoryPool
from logquake.node.net.parser import RequestParser
from logquake.node.net.shared import RequestHandler, Shared
from logquake.node.net.tls.handshake import TlsHandshake
from logquake.node.net.tls.tls_socket import TlsSocket, Transport
from logquake.seams.journal import Journal
from logquake.wire.listeners import ListenerName
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal

_SWEEP_INTERVAL_MS = 5_000
_MAX_HOLD_MS = 30_000  # while memory is short: as long as clients wait for an answer


class Processor:
    """Owns the connections that the acceptor took; requests go to the handler.

    ``admittances`` say how clients get in, at listeners that are not open to all.
    """

    def __init__(
        self,
        loop: EventLoop,
        handler: RequestHandler,
        limits: ConnectionLimits,
        journal: Journal,
        admittances: Admittances = MappingProxyType({}),
    ) -> None:
        self.loop = loop
        self.limits = limits
        self.memory = MemoryPool(limits.max_queued_bytes, self._reclaim_memory)
        self._shared = Shared(
            loop,
            handler,
            limits,
            RequestParser(handler.served),
            self.memory,
            FaultReports(loop, journal),
        )
        self._admittances = admittances
        self._connections: dict[Connection, None] = {}  # in the order they were accepted
        self._arrivals: dict[_Arrival, None] = {}  # those at their TLS handshake
        self._sweep_timer = loop.call_later(_SWEEP_INTERVAL_MS, self._sweep)

    def __len__(self) -> int:
        return len(self._connections) + len(self._arrivals)

    def adopt(
        self,
        sock: socket.socket,
        peer: tuple[str, int],
        listener: ListenerName,
        on_close: Callable[[], None],
    ) -> None:
        """Serve a connected, non-blocking socket; on_close is called once it is closed."""
        admittance = self._admittances.get(listener, OPEN)
        arrival = _Arrival(peer, listener, admittance, on_close, self.loop.now_ms())
        if admittance.tls is None:
            self._serve(sock, arrival)
        else:
            self._arrivals[arrival] = None
            arrival.handshake = TlsHandshake(
                self.loop,
                sock,
                admittance.tls,
                done=lambda secured: self._on_secured(arrival, secured),
                failed=lambda why: self._on_not_secured(arrival, why),
            )

    def close(self) -> None:
        """Close every connection, the oldest first."""
        self._sweep_timer.cancel()
        for arrival in list(self._arrivals):
            self._turn_away(arrival)
        for connection in list(self._connections):
            connection.close("the broker is stopping")

    def _serve(
        self, transport: Transport, arrival: _Arrival, principal: KafkaPrincipal = ANONYMOUS
    ) -> None:
        on_close, new_gate = arrival.on_close, arrival.admittance.new_gate

        def closed(connection: Connection) -> None:
            del self._connections[connection]
            on_close()

        connection = Connection(
            transport,
            arrival.peer,
            arrival.listener,
            self._shared,
            closed,
            principal=principal,
            gate=new_gate() if new_gate is not None else None,
        )
        self._connections[connection] = None

    def _on_secured(self, arrival: _Arrival, secured: TlsSocket) -> None:
        del self._arrivals[arrival]
        try:
            principal = arrival.admittance.principal_of(secured)
        except NotAdmittedError as error:
            secured.close()
            self._report_not_secured(arrival, str(error))
            arrival.on_close()
        else:
            self._serve(secured, arrival, principal)

    def _on_not_secured(self, arrival: _Arrival, why: str | None) -> None:
        del self._arrivals[arrival]
        if why is not None:
            self._report_not_secured(arrival, why)
        arrival.on_close()

    def _report_not_secured(self, arrival: _Arrival, why: str) -> None:
        host, port = arrival.peer
        self._shared.faults.report(f"client {host}:{port}", why)

    def _turn_away(self, arrival: _Arrival) -> None:
        del self._arrivals[arrival]
        arrival.end_handshake()
        arrival.on_close()

    def close_longest_idle(self, *, spare: ListenerName) -> None:
        """Make room for a connection of the listener ``spare``, of which none is closed for it."""
        for arrival in self._arrivals:
            if arrival.listener != spare:
                self._turn_away(arrival)
                return
        others = [each for each in self._connections if each.listener != spare]
        if others:
            longest = min(others, key=lambda connection: connection.last_active_ms)
            longest.close(f"max.connections, and {spare} goes first", report=True)

    def _sweep(self) -> None:
        self._sweep_timer = self.loop.call_later(_SWEEP_INTERVAL_MS, self._sweep)
        if self.limits.max_idle_ms >= 0:
            self._close_idle(self.loop.now_ms() - self.limits.max_idle_ms)
        self._close_unauthenticated(self.loop.now_ms() - self.limits.max_authentication_ms)
        for connection in self._connections:
            connection.relax()
        if self.memory.is_short:
            self._close_slow(self.loop.now_ms() - _MAX_HOLD_MS)

    def _reclaim_memory(self) -> None:
        for connection in self._connections:
            connection.relax(at_once=True)

    def _close_slow(self, since_ms: int) -> None:
        """Close those that others wait for: they hold memory for a request that does not arrive."""
        for connection in list(self._connections):
            if connection.is_holding_since(since_ms) and self.memory.is_short:
                connection.close("others wait for the memory of its late request", report=True)

    def _close_unauthenticated(self, since_ms: int) -> None:
        """Close those that have been about to say who they are since then."""
        for arrival in list(self._arrivals):
            begun_ms = arrival.begun_ms
            if begun_ms is not None and begun_ms <= since_ms:
                self._turn_away(arrival)
        for connection in list(self._connections):
            if connection.is_authenticating_since(since_ms):
                connection.close("not authenticated in time", report=True)

    def _close_idle(self, since_ms: int) -> None:
        """Close the connections that have been idle since then, the longest idle first."""
        for arrival in [each for each in self._arrivals if each.accepted_ms <= since_ms]:
            self._turn_away(arrival)
        idle = [
            connection
            for connection in self._connections
            if connection.is_idle and connection.last_active_ms <= since_ms
        ]
        for connection in sorted(idle, key=lambda connection: connection.last_active_ms):
            connection.close("idle")


class _Arrival:
    """A connection that is not one yet: it may have a TLS handshake to do."""

    def __init__(
        self,
        peer: tuple[str, int],
        listener: ListenerName,
        admittance: Admittance,
        on_close: Callable[[], None],
        accepted_ms: int,
    ) -> None:
        self.peer = peer
        self.listener = listener
        self.admittance = admittance
        self.on_close = on_close
        self.accepted_ms = accepted_ms
        self.handshake: TlsHandshake | None = None

    @property
    def begun_ms(self) -> int | None:
        return None if self.handshake is None else self.handshake.begun_ms

    def end_handshake(self) -> None:
        if self.handshake is not None:
            self.handshake.close()
