"""When a target is warm: its rate has not risen for three rounds in a row.

A JVM compiles what is hot, and then compiles it better: Kafka's throughput more than doubles over
the first minute of a load. Whoever measures before that flatters the other side.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

STEADY_ROUNDS = 3
NOTICEABLE = 1.03  # times the best rate so far: what is less is noise, not warmth


@dataclass(frozen=True, slots=True)
class Warmth:
    """How a warm-up ended. Without ``is_steady`` the time was up while the rate still rose."""

    seconds: float
    rounds: int
    is_steady: bool

    def __str__(self) -> str:
        state = "warm" if self.is_steady else "still rising"
        return f"{state} after {self.seconds:.0f} s and {self.rounds} rounds"


def warm_up(
    rate: Callable[[], float],
    max_seconds: float,
    monotonic_s: Callable[[], float] = time.monotonic,
) -> Warmth:
    """Call ``rate`` until STEADY_ROUNDS in a row no longer rise, or no time is left."""
    began = monotonic_s()
    best = rate()
    rounds, steady = 1, 0
    while steady < STEADY_ROUNDS and monotonic_s() - began < max_seconds:
        now = rate()
        rounds += 1
        steady = 0 if now > best * NOTICEABLE else steady + 1
        best = max(best, now)
    return Warmth(monotonic_s() - began, rounds, steady == STEADY_ROUNDS)
