"""When a driver looks at its sockets: events are processed before anything is timed out.

Kafka's NetworkClient.poll does so too. A pass may be late: a callback or a token took long, a loop
was blocked, a process suspended. An answer that has arrived meanwhile is not missing; if it were
given up, its records would be sent once more.
"""

from __future__ import annotations

from logquake.client.clock import Clock
from logquake.client.driving.driven import Driven
from logquake.client.driving.sockets import Sockets

_LATE_MS = (
    100  # by as much an answer may seem later than it is; a look in each pass would cost more
)


class Lookout:
    """Over the sockets of one driver."""

    def __init__(self, sockets: Sockets, clock: Clock) -> None:
        self._sockets = sockets
        self._clock = clock
        self._looked_ms = clock.now_ms()

    def wait(self, links: Driven, until_ms: int | None) -> None:
        """Until something comes of what happens, or it is time, however much of an answer drips
        in; None waits for ever.
        """
        comes_to_something = False
        while not comes_to_something:
            left_ms = None if until_ms is None else max(0, until_ms - self._clock.now_ms())
            comes_to_something = self._sockets.wait(links, left_ms) or left_ms == 0
        self._looked_ms = self._clock.now_ms()

    def look(self, links: Driven) -> bool:
        """Whether something comes of what has happened."""
        self._looked_ms = self._clock.now_ms()
        return self._sockets.wait(links, 0)

    def catch_up(self, links: Driven) -> None:
        """Before each poll: nothing to do where the last look is not long ago."""
        if self._clock.now_ms() - self._looked_ms >= _LATE_MS:
            self.look(links)
