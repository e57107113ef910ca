"""Work over all partitions, some in a pass: whoever asks for something meanwhile is served."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Generic, TypeVar

from logquake.seams.scheduler import Scheduler

T = TypeVar("T")


class SlicedRound(Generic[T]):
    """At most one is under way: a start that finds one leaves it to go on.

    ``act`` gets one after the other, ``at_a_time`` in one pass of the loop; whether it is still of
    interest is for it to look.
    """

    def __init__(self, scheduler: Scheduler, act: Callable[[T], None], at_a_time: int) -> None:
        self._scheduler = scheduler
        self._act = act
        self._at_a_time = at_a_time
        self._is_under_way = False

    def start(self, items: Iterable[T]) -> None:
        """The first of them now."""
        if not self._is_under_way:
            self._is_under_way = True
            self._go_on(iter(list(items)))

    def _go_on(self, rest: Iterator[T]) -> None:
        count = 0
        for item in islice(rest, self._at_a_time):
            self._act(item)
            count += 1
        if count == self._at_a_time:
            self._scheduler.call_later(0, lambda: self._go_on(rest))
        else:
            self._is_under_way = False
