"""Drives a core on its caller's thread: nothing happens between the calls."""

from __future__ import annotations

from collections.abc import Callable

from logquake.client.clock import Clock
from logquake.client.driving.driven import Core
from logquake.client.driving.lookout import Lookout
from logquake.client.driving.sockets import Sockets
from logquake.client.errors import ConnectionLostError
from logquake.client.network.links import Links


class BlockingDriver:
    def __init__(self, links: Links, sockets: Sockets, clock: Clock) -> None:
        self._links = links
        self._sockets = sockets
        self._lookout = Lookout(sockets, clock)
        self._clock = clock

    def run(self, core: Core, is_done: Callable[[], bool], deadline_ms: int) -> bool:
        """Drive the core, and return whether it was done in time."""
        try:
            while True:
                self._lookout.catch_up(self._links)
                now_ms = self._clock.now_ms()
                core.poll(now_ms)
                done = is_done()
                acted = self._sockets.perform(self._links)
                if done or now_ms >= deadline_ms:
                    return done
                if acted:  # so the core may have work to do
                    continue
                due_ms = core.next_due_ms(now_ms)
                until_ms = deadline_ms if due_ms is None else min(due_ms, deadline_ms)
                self._lookout.wait(self._links, until_ms)
        except BaseException:  # Ctrl-C: it is unknown which bytes were taken in
            self._end_all("interrupted")
            raise

    def perform(self) -> None:
        """Carry out pending effects at once."""
        self._sockets.perform(self._links)

    def close(self) -> None:
        self._end_all("closed by this client")
        self._sockets.close()

    def _end_all(self, why: str) -> None:
        self._links.end_all(ConnectionLostError(why), self._clock.now_ms())
        self.perform()
