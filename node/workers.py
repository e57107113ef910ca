"""Threads for what would hold up the loop: fsync, recovery of logs.

The port, and the one that a simulation plugs in. A process plugs in its EventLoop.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from logquake.controller.ports import Scheduler

T = TypeVar("T")


class Workers(Protocol):
    def run_in_worker(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        """Run work on another thread, then done on the loop with the finished future.

        ``future.result()`` returns what work returned or raises what it raised.
        """


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
