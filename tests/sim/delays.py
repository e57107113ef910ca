"""Random delays, from one seed: short mostly, long now and then."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Protocol

from tests.sim.clock import Action, Clock

_USUAL_US = (100, 2_000)
_SLOW_US = (5_000, 120_000)
_SLOW_SHARE = 0.03


class Way(Protocol):
    def one_way_us(self) -> int:
        """How long the next message takes."""


class Delays:
    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def one_way_us(self) -> int:
        """A message's way from one host to another."""
        shortest, longest = _SLOW_US if self._rng.random() < _SLOW_SHARE else _USUAL_US
        return self._rng.randint(shortest, longest)


class Wire:
    """One direction of one connection: delays vary, the order is kept.

    A delivery takes whatever is first in line, so that nothing overtakes what a cut link held.
    """

    def __init__(self, clock: Clock, way: Way) -> None:
        self._clock = clock
        self._way = way
        self._last_us = 0
        self._line: deque[tuple[str, Action]] = deque()

    def send(self, label: str, arrive: Action, gate: Callable[[], bool] = lambda: True) -> None:
        """Let arrive happen later. gate is asked at that time: False leaves it in line."""
        self._line.append((label, arrive))
        self._schedule(label, gate)

    def resend(self, gate: Callable[[], bool]) -> None:
        """All that is still in line goes on its way again."""
        for label, _ in self._line:
            self._schedule(label, gate)

    def clear(self) -> None:
        self._line.clear()

    def _schedule(self, label: str, gate: Callable[[], bool]) -> None:
        self._last_us = max(self._last_us, self._clock.now_us + self._way.one_way_us())
        self._clock.at(self._last_us, label, partial(self._deliver, gate))

    def _deliver(self, gate: Callable[[], bool]) -> None:
        if self._line and gate():
            self._line.popleft()[1]()
