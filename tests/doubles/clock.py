"""Nanoseconds that pass when the test says so."""

from __future__ import annotations


class ManualClock:
    """``ns`` is what a loop or a watch is given for time.monotonic_ns."""

    def __init__(self) -> None:
        self._now_ns = 1_000_000_000_000

    def ns(self) -> int:
        return self._now_ns

    def advance_ms(self, duration_ms: int) -> None:
        self._now_ns += duration_ms * 1_000_000
