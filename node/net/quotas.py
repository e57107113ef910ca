"""How many connections there may be, in all and from one address. Kafka's ConnectionQuotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from logquake.wire.listeners import ListenerName


class ConnectionQuotas:
    """Counts connections of all listeners against max.connections and max.connections.per.ip.

    ``protected`` is the listener between brokers where there are others too: clients on those do
    not keep it from taking connections (ConnectionQuotas.protectedListener).
    """

    def __init__(
        self, max_connections: int, max_per_ip: int, protected: ListenerName | None = None
    ) -> None:
        self._max_connections = max_connections
        self._max_per_ip = max_per_ip
        self._protected = protected
        self._by_ip: Counter[str] = Counter()
        self._total = 0
        self._waiting: list[Callable[[], None]] = []

    @property
    def is_exceeded(self) -> bool:
        """The protected listener took one more than there may be."""
        return self._total > self._max_connections

    def has_room(self, listener: ListenerName) -> bool:
        return self._total < self._max_connections or listener == self._protected

    def wait_for_room(self, resume: Callable[[], None]) -> None:
        """Call resume once, when a connection has been closed."""
        self._waiting.append(resume)

    def admit(self, ip: str) -> bool:
        """Count a connection from ip, unless that address has as many as it may."""
        if self._by_ip[ip] >= self._max_per_ip:
            return False
        self._by_ip[ip] += 1
        self._total += 1
        return True

    def release(self, ip: str) -> None:
        """A connection that was admitted is closed."""
        self._total -= 1
        self._by_ip[ip] -= 1
        if not self._by_ip[ip]:
            del self._by_ip[ip]
        waiting, self._waiting = self._waiting, []
        for resume in waiting:
            resume()
