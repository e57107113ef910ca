"""Chance without chance, for scripts that a draw more or less shall not change."""

from __future__ import annotations

from random import Random


class EvenRandom(Random):
    """Waits are as long as they are on average, and the first of a few is taken."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2

    def randrange(self, *_: object) -> int:
        return 0
