"""Time, for clients that wait and time out."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    def now_ms(self) -> int:
        """Monotonic milliseconds."""

    def wall_ms(self) -> int:
        """Milliseconds since the Unix epoch."""


class SleepingClock(Clock, Protocol):
    """For those who let a thread of theirs wait until some time has passed."""

    def sleep_ms(self, duration_ms: int) -> None: ...


class SystemClock:
    def now_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def sleep_ms(self, duration_ms: int) -> None:
        time.sleep(duration_ms / 1000)
