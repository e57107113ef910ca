"""Workers of a simulation. A process plugs in its EventLoop."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from logquake.seams.scheduler import Scheduler

T = TypeVar("T")


class ScheduledWorkers:
    """One thread for all: the work is done on the loop, delay_ms later, done as much after it.

    In between anything may happen, as with real threads.
    """

    def __init__(self, scheduler: Scheduler, *, delay_ms: float = 1) -> None:
        self._scheduler = scheduler
        self._delay_ms = delay_ms

    def run_in_worker(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        def run() -> None:
            future: Future[T] = Future()
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 (a future carries whatever was raised)
                future.set_exception(error)
            self._scheduler.call_later(self._delay_ms, lambda: done(future))

        self._scheduler.call_later(self._delay_ms, run)
