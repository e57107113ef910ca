"""Time that moves by hand."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from logquake.seams.scheduler import Scheduler, Timer

_WALL_CLOCK_START_MS = 1_700_000_000_000


@dataclass(slots=True, eq=False)
class ManualTimer:
    action: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class ManualScheduler:
    """Time stands still until somebody moves it.

    ``advance()`` serves whoever owns the time; a world that has more to do at each moment takes
    what is due from ``take_due()``, one action at a time, and ends with ``stand_at()``.
    """

    def __init__(self) -> None:
        self._now_ms = 0.0
        self._order = count()
        self._timers: list[tuple[float, int, ManualTimer]] = []

    def now_ms(self) -> int:
        return int(self._now_ms)

    def wall_ms(self) -> int:
        return _WALL_CLOCK_START_MS + self.now_ms()

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> ManualTimer:
        timer = ManualTimer(action)
        heapq.heappush(self._timers, (self._now_ms + delay_ms, next(self._order), timer))
        return timer

    def advance(self, duration_ms: float) -> None:
        """Let the time pass; what falls due in it is done in order, at its own time."""
        end_ms = self._now_ms + duration_ms
        while (action := self.take_due(end_ms)) is not None:
            action()
        self.stand_at(end_ms)

    def take_due(self, until_ms: float | None = None) -> Callable[[], None] | None:
        """What falls due first, if that is by now, or by then; it is that time now."""
        end_ms = self._now_ms if until_ms is None else until_ms
        while self._timers and self._timers[0][0] <= end_ms:
            due_ms, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled:
                self._now_ms = max(self._now_ms, due_ms)
                return timer.action
        return None

    def stand_at(self, now_ms: float) -> None:
        """It is this time now; nothing that was due before is left."""
        self._now_ms = now_ms


class MortalScheduler:
    """The scheduler of one process of several: its timers die with it."""

    def __init__(self, below: Scheduler) -> None:
        self._below = below
        self._alive = True
        self.now_ms = below.now_ms
        self.wall_ms = below.wall_ms

    def die(self) -> None:
        self._alive = False

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> Timer:
        return self._below.call_later(delay_ms, lambda: action() if self._alive else None)
