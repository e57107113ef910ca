"""A program's life: calls of its clients one after the other, and pauses between them.

It is a generator, as a program would be a function: what it yields is done, and it is sent what
came of it, or what failed is raised in it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from logquake.client.driving.steps import Steps
from logquake.client.errors import ClientError
from logquake.seams.scheduler import Scheduler
from tests.sim.client_driver import SimDriver


class Do(NamedTuple):
    driver: SimDriver
    steps: Steps[Any]


class Sleep(NamedTuple):
    ms: int


Life: TypeAlias = Generator[Do | Sleep, Any, None]


def live(life: Life, scheduler: Scheduler, over: Callable[[], None]) -> None:
    """Until it ends; then ``over`` is called."""
    _go_on(life, partial(next, life), scheduler, over)


def _go_on(
    life: Life, take: Callable[[], Do | Sleep], scheduler: Scheduler, over: Callable[[], None]
) -> None:
    try:
        wanted = take()
    except StopIteration:
        over()
        return

    def ended(value: object, error: ClientError | None) -> None:
        how = partial(life.send, value) if error is None else partial(life.throw, error)
        _go_on(life, how, scheduler, over)

    if isinstance(wanted, Sleep):
        scheduler.call_later(wanted.ms, lambda: ended(None, None))
    else:
        wanted.driver.run(wanted.steps, ended)


class SimClock:
    """A client's clock, of one life of a host."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def now_ms(self) -> int:
        return self._scheduler.now_ms()

    def wall_ms(self) -> int:
        return self._scheduler.wall_ms()
