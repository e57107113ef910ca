"""Time-outs of waiting requests: one timer for all of them.

Requests of one kind nearly always name the same few time-outs, so each value has a queue that is
in order of expiry by itself, and most requests are done long before: their entries fall off the
front. A timer of its own for each would cost more than all else in an acks=all write.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from logquake.seams.scheduler import Scheduler, Timer


class Waiting(Protocol):
    deadline_ms: int
    is_done: bool


W = TypeVar("W", bound=Waiting)


class DeadlineQueue(Generic[W]):
    """Calls ``expired`` once with each added item whose deadline passes before it is done."""

    def __init__(self, scheduler: Scheduler, expired: Callable[[W], None]) -> None:
        self._scheduler = scheduler
        self._expired = expired
        self._queues: dict[int, deque[W]] = {}
        self._timer: Timer | None = None
        self._armed_for_ms = 0

    def add(self, item: W, timeout_ms: int) -> None:
        """item.deadline_ms must be timeout_ms from now."""
        queue = self._queues.get(timeout_ms)
        if queue is None:
            queue = self._queues[timeout_ms] = deque()
        while queue and queue[0].is_done:
            queue.popleft()
        queue.append(item)
        if self._timer is None or item.deadline_ms < self._armed_for_ms:
            self._arm(item.deadline_ms)

    def _arm(self, deadline_ms: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_for_ms = deadline_ms
        delay_ms = max(0, deadline_ms - self._scheduler.now_ms())
        self._timer = self._scheduler.call_later(delay_ms, self._on_timer)

    def _on_timer(self) -> None:
        self._timer = None
        now_ms = self._scheduler.now_ms()
        for item in self._take_expired(now_ms):
            self._expired(item)
        if self._timer is None and self._queues:
            self._arm(min(queue[0].deadline_ms for queue in self._queues.values()))

    def _take_expired(self, now_ms: int) -> list[W]:
        expired: list[W] = []
        for timeout_ms in list(self._queues):
            queue = self._queues[timeout_ms]
            while queue and (queue[0].is_done or queue[0].deadline_ms <= now_ms):
                item = queue.popleft()
                if not item.is_done:
                    expired.append(item)
            if not queue:
                del self._queues[timeout_ms]
        expired.sort(key=lambda item: item.deadline_ms)
        return expired
