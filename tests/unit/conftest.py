"""What the tests of several rooms share: time that moves by hand."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import pytest


@dataclass(slots=True, eq=False)
class ManualTimer:
    action: Callable[[], None]
    cancelled: bool = False

    def cancel(self) -> None:
        self.cancelled = True


class ManualScheduler:
    """Time stands still until advance()."""

    def __init__(self) -> None:
        self._now = 0.0
        self._order = count()
        self._timers: list[tuple[float, int, ManualTimer]] = []

    def now_ms(self) -> int:
        return int(self._now)

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + int(self._now)

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> ManualTimer:
        timer = ManualTimer(action)
        heapq.heappush(self._timers, (self._now + delay_ms, next(self._order), timer))
        return timer

    def advance(self, delta_ms: float) -> None:
        end = self._now + delta_ms
        while self._timers and self._timers[0][0] <= end:
            self._now, _, timer = heapq.heappop(self._timers)
            if not timer.cancelled:
                timer.action()
        self._now = end


@pytest.fixture
def scheduler() -> ManualScheduler:
    return ManualScheduler()
