"""Work that comes back while there is some."""

from __future__ import annotations

from collections.abc import Callable

from logquake.seams.scheduler import Scheduler


class Recurring:
    """``work`` is done every interval_ms from wake() on, until it says that there is none left:
    a broker without transactions does not wake up for them.
    """

    def __init__(self, scheduler: Scheduler, interval_ms: int, work: Callable[[], bool]) -> None:
        self._scheduler = scheduler
        self._interval_ms = interval_ms
        self._work = work
        self._is_awake = False

    def wake(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._scheduler.call_later(self._interval_ms, self._run)

    def _run(self) -> None:
        self._is_awake = False
        if self._work():
            self.wake()
