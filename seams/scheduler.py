"""Time: the event loop's in a process, the seed's in the simulation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Timer(Protocol):
    def cancel(self) -> None: ...


class Scheduler(Protocol):
    """Time. Everything that waits, waits through here."""

    def now_ms(self) -> int:
        """Monotonic milliseconds, for lags and time-outs."""

    def wall_ms(self) -> int:
        """Milliseconds since the Unix epoch, for what is written down."""

    def call_later(self, delay_ms: float, action: Callable[[], None]) -> Timer:
        """Call action once, on the loop, after delay_ms."""
