"""Who stands behind an address: whether anybody listens there.

A broker that dies is noticed by others through its refused connections. So a proxy's own address
has to refuse as soon as the address behind it does, and to accept as soon as that accepts.
"""

from __future__ import annotations

import socket
from collections.abc import Callable

from logquake.cluster.links.plan import Address
from logquake.node.net.links.connector import Connector, ConnectSettings
from logquake.node.net.loop import EventLoop
from logquake.seams.network import Disconnected

# A target that refuses is asked so often whether it is there: how much later than without a proxy
# a restarted broker is reached.
_PROBE_INTERVAL_MS = 10

# Who has refused for this long is asked less often: a server of ZooKeeper's listens for the others
# for as long as it leads them.
_LONG_MS = 5_000
_LATE_PROBE_INTERVAL_MS = 50

# So long an answer is waited for: a frozen target whose queue is full gives none.
_ANSWER_TIMEOUT_MS = 1_000

_PLAIN = ConnectSettings()


class Target:
    """It counts as refusing until it has accepted. ``changed`` is called when that changes."""

    def __init__(self, loop: EventLoop, address: Address, changed: Callable[[], None]) -> None:
        self.accepts = False
        self.was_asked = False
        self._is_closed = False
        self._refuses_since_ms = loop.now_ms()
        self._loop = loop
        self._address = address
        self._changed = changed
        self._asking: list[Callable[[], None]] = []
        self._ask(lambda: None)

    def dial(
        self, connected: Callable[[socket.socket], None], refused: Callable[[], None]
    ) -> Connector:
        """A connection to it, or not; neither is called before this returned."""

        def failed(_why: Disconnected) -> None:
            self._note(accepts=False)
            refused()

        return Connector(
            self._loop, self._address, _PLAIN, delay_ms=0, connected=connected, failed=failed
        )

    def ask(self, then: Callable[[], None]) -> None:
        """Find out whether it accepts, and call ``then`` when that is known, or takes too long."""
        self._asking.append(then)
        if len(self._asking) == 1:
            self._ask(self._tell)
            self._loop.call_later(_ANSWER_TIMEOUT_MS, self._tell)

    def close(self) -> None:
        """Nobody asks any more."""
        self._is_closed = True

    def _tell(self) -> None:
        asking, self._asking = self._asking, []
        for then in asking:
            then()

    def _ask(self, then: Callable[[], None]) -> None:
        def connected(sock: socket.socket) -> None:
            sock.close()
            self._note(accepts=True)
            then()

        self.dial(connected, then)

    def _note(self, *, accepts: bool) -> None:
        is_news = self.accepts != accepts or not self.was_asked
        self.accepts, self.was_asked = accepts, True
        if is_news and not accepts:
            self._refuses_since_ms = self._loop.now_ms()
            self._look_later()
        if is_news:
            self._changed()

    def _look_again(self) -> None:
        if not self.accepts and not self._is_closed:
            self._ask(self._look_later)

    def _look_later(self) -> None:
        if not self.accepts and not self._is_closed:
            refuses_ms = self._loop.now_ms() - self._refuses_since_ms
            interval_ms = _PROBE_INTERVAL_MS if refuses_ms < _LONG_MS else _LATE_PROBE_INTERVAL_MS
            self._loop.call_later(interval_ms, self._look_again)
