"""How many connections there may be, and how fast they may come: Kafka's ConnectionQuotas.

In all, at each listener, and from one address. Who is one too many waits in the listen backlog,
or, where its address has too many, is sent away; who comes too fast is served later, or, where that
is too fast for its address, held up and sent away (KIP-612).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from logquake.node.net.addresses import address_of
from logquake.node.net.connection_rate import ConnectionRate
from logquake.node.net.limits import ConnectionLimits, ListenerLimits
from logquake.node.quotas.addresses import at_address
from logquake.node.quotas.client_quotas import RateQuota
from logquake.wire.listeners import ListenerName


class ConnectionQuotas:
    """Counts connections of all listeners against the limits.

    ``protected`` is the listener between brokers where there are others too: clients on those do
    not keep it from taking connections (ConnectionQuotas.protectedListener).
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        now_ms: Callable[[], int],
        of_addresses: RateQuota,
        protected: ListenerName | None = None,
    ) -> None:
        self._limits = limits
        self._max_by_ip = _addresses(limits.max_connections_per_ip_overrides)
        self._now_ms = now_ms
        self._of_addresses = of_addresses
        self._protected = protected
        self._by_ip: Counter[str] = Counter()
        self._by_listener: Counter[ListenerName] = Counter()
        self._total = 0
        self._rate = self._new_rate(limits.max_creation_rate)
        self._rates: dict[ListenerName, ConnectionRate] = {}
        self._waiting: list[Callable[[], None]] = []

    def change(self, limits: ConnectionLimits) -> None:
        """Other bounds from now on; connections beyond them stay."""
        self._limits = limits
        self._max_by_ip = _addresses(limits.max_connections_per_ip_overrides)
        self._rate.bound = limits.max_creation_rate
        for listener, rate in self._rates.items():
            rate.bound = self._of(listener).max_creation_rate
        self._resume()

    @property
    def is_exceeded(self) -> bool:
        """The protected listener took one more than there may be."""
        return self._total > self._limits.max_connections

    def has_room(self, listener: ListenerName) -> bool:
        if self._by_listener[listener] >= self._of(listener).max_connections:
            return False
        return self._total < self._limits.max_connections or listener == self._protected

    def wait_for_room(self, resume: Callable[[], None]) -> None:
        """Call resume once, when a connection has been closed or there may be more."""
        self._waiting.append(resume)

    def delay_ms(self, listener: ListenerName) -> int:
        """A connection came: how long it has to wait, and those behind it."""
        now_ms = self._now_ms()
        delay_ms = self._rate_of(listener).record(now_ms)
        if listener != self._protected:
            delay_ms = max(delay_ms, self._rate.record(now_ms))
        return delay_ms

    def held_up_ms(self, listener: ListenerName, ip: str) -> int:
        """A connection came from there: how long until it is to be closed, 0 if it may stay.

        Where it may not it counts for nobody (recordIpConnectionMaybeThrottle).
        """
        client = at_address(ip)
        wait_ms = self._of_addresses.record(client, 1)
        if wait_ms <= 0:
            return 0
        now_ms = self._now_ms()
        self._of_addresses.unrecord(client, 1)
        self._rate_of(listener).unrecord(now_ms)
        if listener != self._protected:
            self._rate.unrecord(now_ms)
        return wait_ms

    def admit(self, listener: ListenerName, ip: str) -> bool:
        """Count a connection from ip, unless that address has as many as it may."""
        most = self._max_by_ip.get(ip, self._limits.max_connections_per_ip)
        if self._by_ip[ip] >= most:
            return False
        self._by_ip[ip] += 1
        self._by_listener[listener] += 1
        self._total += 1
        return True

    def release(self, listener: ListenerName, ip: str) -> None:
        """A connection that was admitted is closed."""
        self._total -= 1
        self._by_listener[listener] -= 1
        self._by_ip[ip] -= 1
        if not self._by_ip[ip]:
            del self._by_ip[ip]
        self._resume()

    def _resume(self) -> None:
        waiting, self._waiting = self._waiting, []
        for resume in waiting:
            resume()

    def _of(self, listener: ListenerName) -> ListenerLimits:
        return self._limits.of_listeners.get(listener, ListenerLimits())

    def _rate_of(self, listener: ListenerName) -> ConnectionRate:
        if listener not in self._rates:
            self._rates[listener] = self._new_rate(self._of(listener).max_creation_rate)
        return self._rates[listener]

    def _new_rate(self, bound: int) -> ConnectionRate:
        return ConnectionRate(bound, self._limits.rate_windows, self._limits.rate_window_ms)


def _addresses(by_host: Mapping[str, int]) -> dict[str, int]:
    """By address; a name that nobody knows is of no connection."""
    found = ((address_of(host), most) for host, most in by_host.items())
    return {address: most for address, most in found if address is not None}
