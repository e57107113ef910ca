"""When a driver looks at its sockets: events are processed before anything is timed out.

Kafka's NetworkClient.poll does so too. A pass may be late, because a callback or a token took long,
a loop was blocked, or the process was suspended. A response that has arrived meanwhile is in time;
if its request timed out nevertheless, records would be sent once more.
"""

from __future__ import annotations

from logquake.client.clock import Clock
from logquake.client.driving.driven import Driven
from logquake.client.driving.sockets import Sockets

_LATE_MS = 100  # a response may seem late by this much; looking in each pass would cost more


class Lookout:
    """Watches the sockets of one driver."""

    def __init__(self, sockets: Sockets, clock: Clock) -> None:
        self._sockets = sockets
        self._clock = clock
        self._looked_ms = clock.now_ms()

    def wait(self, links: Driven, until_ms: int | None) -> None:
        """Wait until an event changes something, or until the time is up, even if parts of a
        response keep arriving; None waits for ever.
        """
        comes_to_something = False
        while not comes_to_something:
            left_ms = None if until_ms is None else max(0, until_ms - self._clock.now_ms())
            comes_to_something = self._sockets.wait(links, left_ms) or left_ms == 0
        self._looked_ms = self._clock.now_ms()

    def look(self, links: Driven) -> bool:
        """Process events. Returns whether they changed anything."""
        self._looked_ms = self._clock.now_ms()
        return self._sockets.wait(links, 0)

    def catch_up(self, links: Driven) -> None:
        """Call before each poll; does nothing if the last look was recent."""
        if self._clock.now_ms() - self._looked_ms >= _LATE_MS:
            self.look(links)
