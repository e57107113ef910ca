"""Requests that wait until the metadata cache shows what they asked for.

CreateTopics is answered when every partition has a leader that clients can find, DeleteTopics when
the topic is gone from the metadata (Kafka's DelayedCreatePartitions and DelayedDeleteTopics).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.seams.scheduler import Scheduler, Timer


@dataclass(slots=True, eq=False)
class _Waiting:
    condition: Callable[[], bool]
    done: Callable[[], None]
    timer: Timer


class MetadataWaiters:
    """Conditions on the metadata cache, looked at after each of its updates."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._waiting: list[_Waiting] = []

    def wait(
        self, condition: Callable[[], bool], timeout_ms: int | None, done: Callable[[], None]
    ) -> None:
        """Call done once: when condition holds, or after timeout_ms whether it holds or not.

        None waits until it holds.
        """
        if condition() or (timeout_ms is not None and timeout_ms <= 0):
            done()
            return
        waiting = _Waiting(condition, done, _NEVER)
        if timeout_ms is not None:
            waiting.timer = self._scheduler.call_later(timeout_ms, lambda: self._finish(waiting))
        self._waiting.append(waiting)

    def on_metadata_update(self) -> None:
        for waiting in [each for each in self._waiting if each.condition()]:
            waiting.timer.cancel()
            self._finish(waiting)

    def _finish(self, waiting: _Waiting) -> None:
        self._waiting.remove(waiting)
        waiting.done()


class _Never:
    def cancel(self) -> None:
        """Nothing is scheduled."""


_NEVER = _Never()
