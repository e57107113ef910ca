"""All connections of a broker: what they share, and who is closed for being idle or at fault."""

from __future__ import annotations

import socket
from collections.abc import Callable

from logquake.node.net.connection import Connection
from logquake.node.net.faults import FaultReports
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.loop import EventLoop
from logquake.node.net.memory import MemoryPool
from logquake.node.net.parser import RequestParser
from logquake.node.net.shared import RequestHandler, Shared
from logquake.seams.journal import Journal
from logquake.wire.listeners import ListenerName

_SWEEP_INTERVAL_MS = 5_000
_MAX_HOLD_MS = 30_000  # while memory is short: as long as clients wait for an answer


class Processor:
    """Owns the connections that the acceptor took; requests go to the handler."""

    def __init__(
        self,
        loop: EventLoop,
        handler: RequestHandler,
        limits: ConnectionLimits,
        journal: Journal,
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
        self._connections: dict[Connection, None] = {}  # in the order they were accepted
        self._sweep_timer = loop.call_later(_SWEEP_INTERVAL_MS, self._sweep)

    def __len__(self) -> int:
        return len(self._connections)

    def adopt(
        self,
        sock: socket.socket,
        peer: tuple[str, int],
        listener: ListenerName,
        on_close: Callable[[], None],
    ) -> None:
        """Serve a connected, non-blocking socket; on_close is called once it is closed."""

        def closed(connection: Connection) -> None:
            del self._connections[connection]
            on_close()

        self._connections[Connection(sock, peer, listener, self._shared, closed)] = None

    def close(self) -> None:
        """Close every connection, the oldest first."""
        self._sweep_timer.cancel()
        for connection in list(self._connections):
            connection.close("the broker is stopping")

    def close_longest_idle(self, *, spare: ListenerName) -> None:
        """Make room for a connection of the listener ``spare``, of which none is closed for it."""
        others = [each for each in self._connections if each.listener != spare]
        if others:
            longest = min(others, key=lambda connection: connection.last_active_ms)
            longest.close(f"max.connections, and {spare} goes first", report=True)

    def _sweep(self) -> None:
        self._sweep_timer = self.loop.call_later(_SWEEP_INTERVAL_MS, self._sweep)
        if self.limits.max_idle_ms >= 0:
            self._close_idle(self.loop.now_ms() - self.limits.max_idle_ms)
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

    def _close_idle(self, since_ms: int) -> None:
        """Close the connections that have been idle since then, the longest idle first."""
        idle = [
            connection
            for connection in self._connections
            if connection.is_idle and connection.last_active_ms <= since_ms
        ]
        for connection in sorted(idle, key=lambda connection: connection.last_active_ms):
            connection.close("idle")
