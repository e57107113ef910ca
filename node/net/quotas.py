"""How many connections there may be, in all and from one address. Kafka's ConnectionQuotas."""

from __future__ import annotations

from collections import Counter


class ConnectionQuotas:
    """Counts connections against max.connections and max.connections.per.ip."""

    def __init__(self, max_connections: int, max_per_ip: int) -> None:
        self._max_connections = max_connections
        self._max_per_ip = max_per_ip
        self._by_ip: Counter[str] = Counter()
        self._total = 0

    @property
    def is_full(self) -> bool:
        return self._total >= self._max_connections

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
