"""How long to wait before the next attempt (org.apache.kafka.common.utils.ExponentialBackoff)."""

from __future__ import annotations

from random import Random

_MULTIPLIER = 2
_JITTER = 0.2  # of each wait, up or down, so that clients do not all reconnect at once


class ExponentialBackoff:
    """``initial_ms``, then twice as long each time, up to ``max_ms``.

    If the two are equal, every wait is exactly that, as in Kafka.
    """

    def __init__(self, initial_ms: int, max_ms: int, random: Random) -> None:
        self._initial_ms = min(initial_ms, max_ms)
        self._max_ms = max_ms
        self._random = random

    def after(self, attempts: int) -> int:
        """The wait after a failure, given how many attempts failed before it."""
        if self._initial_ms >= self._max_ms:
            return self._initial_ms
        wait_ms = self._initial_ms
        for _ in range(attempts):
            if not 0 < wait_ms < self._max_ms:
                break
            wait_ms *= _MULTIPLIER
        spread = self._random.uniform(1 - _JITTER, 1 + _JITTER)
        return min(self._max_ms, int(min(wait_ms, self._max_ms) * spread))
