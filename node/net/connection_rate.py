"""How fast connections come, and how long the next one waits when that is too fast (KIP-612).

A burst within the bound passes (node/quotas/measures.py).
"""

from __future__ import annotations

from logquake.node.quotas.measures import Rate, Windows, as_long, wait_ms

UNLIMITED = 2**31 - 1


class ConnectionRate:
    """Of one listener, or all together. ``windows`` is quota.window.num, ``window_ms``
    quota.window.size.seconds.
    """

    def __init__(self, bound: int, windows: int, window_ms: int) -> None:
        self.bound = bound  # connections a second
        self._window_ms = window_ms
        self._rate = Rate(Windows(windows, window_ms))

    def record(self, now_ms: int) -> int:
        """Count one; how long it has to wait, in milliseconds, at most a window's time."""
        if self.bound == UNLIMITED:
            return 0
        rate = self._rate
        rate.record(1, now_ms)
        wait = as_long(wait_ms(rate.measure(now_ms), self.bound, rate.elapsed_ms(now_ms)))
        return min(wait, self._window_ms)

    def unrecord(self, now_ms: int) -> None:
        """The last one was turned away after all."""
        if self.bound != UNLIMITED:
            self._rate.record(-1, now_ms)
