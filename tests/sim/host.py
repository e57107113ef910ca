"""A machine whose process can be killed and paused: the loop that everything on it runs on.

One incarnation of a host is one life of its process. Whatever was meant for an earlier life
(timers, answers) is dropped; what reaches a paused process waits in the order of its arrival.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from logquake.seams.scheduler import Timer
from tests.sim.clock import Action, Clock, Event

WALL_CLOCK_START_MS = 1_700_000_000_000


class Host:
    """``after_each`` runs after everything that ran on the loop: the owner's end of a pass."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name = name
        self.clock = clock
        self.incarnation = 0
        self.actions = 0  # that ran, ever
        self.alive = True
        self.paused = False
        self.after_each: Action | None = None
        self._waiting: deque[Action] = deque()
        self._connected: list[Action] = []

    def on_reset(self, action: Action) -> None:
        """Call action when this life ends, or the process drops all who are connected to it."""
        self._connected.append(action)

    def reset(self) -> None:
        """Break the connections that others have made to it."""
        connected, self._connected = self._connected, []
        for action in connected:
            action()

    def run(self, incarnation: int, action: Action, *, is_event: bool = True) -> None:
        """Run something now, on the process that was alive as ``incarnation``.

        What is no event itself, the end of a pass, is not followed by after_each.
        """
        if not self.alive or incarnation != self.incarnation:
            return
        if self.paused:
            again = partial(self.run, incarnation, action, is_event=is_event)
            self._waiting.append(again)
            return
        self.actions += 1
        action()
        if is_event and self.after_each is not None:
            self.after_each()

    def die(self) -> None:
        self.alive = False
        self.paused = False
        self.incarnation += 1
        self._waiting.clear()
        self.after_each = None
        self.reset()

    def revive(self) -> None:
        self.alive = True

    def pause(self) -> None:
        self.paused = True

    def resume(self) -> None:
        self.paused = False
        waiting, self._waiting = self._waiting, deque()
        for action in waiting:
            self.clock.after(0, f"{self.name} catches up", action)

    def bound(self, incarnation: int, action: Action) -> Action:
        return partial(self.run, incarnation, action)


class HostTimer:
    """Can be cancelled until it runs, as the loop's can: also after it came up in a pause."""

    event: Event

    def __init__(self, action: Action) -> None:
        self._action: Action | None = action

    def cancel(self) -> None:
        self._action = None
        self.event.cancel()

    def run(self) -> None:
        if self._action is not None:
            self._action()


class HostScheduler:
    """The Scheduler of one life of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._incarnation = host.incarnation

    def now_ms(self) -> int:
        return self._host.clock.now_us // 1000

    def wall_ms(self) -> int:
        return WALL_CLOCK_START_MS + self.now_ms()

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> Timer:
        clock, host = self._host.clock, self._host
        timer = HostTimer(action)
        bound = host.bound(self._incarnation, timer.run)
        timer.event = clock.after(int(delay_ms * 1000), f"{host.name} timer", bound)
        return timer
