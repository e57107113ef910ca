"""Worker threads without threads: work that time brings, and work that the test lets go."""

from __future__ import annotations

from collections import deque
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
            future = _finished(work)
            self._scheduler.call_later(self._delay_ms, lambda: done(future))

        self._scheduler.call_later(self._delay_ms, run)


class HeldWorkers:
    """Nothing is done before the test lets it go, and then all of it at once."""

    def __init__(self) -> None:
        self._held: deque[Callable[[], None]] = deque()

    def __len__(self) -> int:
        """Pieces of work that are held."""
        return len(self._held)

    def run_in_worker(self, work: Callable[[], T], done: Callable[[Future[T]], None]) -> None:
        self._held.append(lambda: done(_finished(work)))

    def finish_next(self) -> None:
        self._held.popleft()()

    def finish(self) -> None:
        """All that is held by now."""
        for _ in range(len(self._held)):
            self.finish_next()


def _finished(work: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(work())
    except Exception as error:  # noqa: BLE001 (a future carries whatever was raised)
        future.set_exception(error)
    return future
