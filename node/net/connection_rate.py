"""How fast connections come, and how long the next one waits when that is too fast (KIP-612).

Kafka's Rate over its SampledStat, as ConnectionQuotas asks it: counts in windows of time, of which
so many are kept; the rate is what they hold over the time that they span, and never over less than
all but one of them, so that a burst within the bound passes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

UNLIMITED = 2**31 - 1


@dataclass(slots=True)
class _Window:
    start_ms: int
    last_ms: int
    count: int = 0


class ConnectionRate:
    """Of one listener, one address, or all together. ``windows`` is quota.window.num, ``window_ms``
    quota.window.size.seconds.
    """

    def __init__(self, bound: int, windows: int, window_ms: int) -> None:
        self.bound = bound  # connections a second
        self._kept = windows
        self._window_ms = window_ms
        self._windows: deque[_Window] = deque()

    def record(self, now_ms: int) -> int:
        """Count one; how long it has to wait, in milliseconds, at most a window's time."""
        if self.bound == UNLIMITED:
            return 0
        self._current(now_ms).count += 1
        span_ms = self._span_ms(now_ms)
        rate = sum(window.count for window in self._windows) * 1000 / span_ms
        if rate <= self.bound:
            return 0
        return min(round((rate - self.bound) / self.bound * span_ms), self._window_ms)

    def _current(self, now_ms: int) -> _Window:
        windows = self._windows
        while windows and now_ms - windows[0].last_ms >= self._kept * self._window_ms:
            windows.popleft()
        if not windows or now_ms - windows[-1].start_ms >= self._window_ms:
            windows.append(_Window(now_ms, now_ms))
        windows[-1].last_ms = now_ms
        return windows[-1]

    def _span_ms(self, now_ms: int) -> int:
        elapsed_ms = now_ms - self._windows[0].start_ms
        missing = self._kept - 1 - elapsed_ms // self._window_ms
        return max(1, elapsed_ms + max(0, missing) * self._window_ms)
