"""Timers in a heap. Cancelled ones stay until they come up, or until they are most of the heap.

Nearly every timer of a broker is a request's time-out that is cancelled within milliseconds,
30 seconds before it would come up: without the sweep they would pile up.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

_SWEEP_AT_LEAST = 1024  # below this many, sweeping costs more than it saves


class LoopTimer:
    """One pending action. Satisfies logquake.seams.scheduler.Timer."""

    __slots__ = ("_queue", "action")

    def __init__(self, action: Callable[[], None], queue: TimerQueue) -> None:
        self.action: Callable[[], None] | None = action
        self._queue = queue

    def cancel(self) -> None:
        """Forget the action. Nothing happens when it already ran or was cancelled."""
        if self.action is not None:
            self.action = None
            self._queue.one_was_cancelled()


class TimerQueue:
    """Actions by due time, in milliseconds of whatever clock the owner uses."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, LoopTimer]] = []
        self._order = count()
        self._cancelled = 0

    def __len__(self) -> int:
        """Entries held, cancelled ones included."""
        return len(self._heap)

    def add(self, due_ms: float, action: Callable[[], None]) -> LoopTimer:
        """Actions due at the same time run in the order in which they were added."""
        timer = LoopTimer(action, self)
        heapq.heappush(self._heap, (due_ms, next(self._order), timer))
        return timer

    def next_due_ms(self) -> float | None:
        """When the next action is due, None without any."""
        heap = self._heap
        while heap and heap[0][2].action is None:
            heapq.heappop(heap)
            self._cancelled -= 1
        return heap[0][0] if heap else None

    def run_due(self, now_ms: float, done: Callable[[object], None] = lambda _action: None) -> None:
        """Run what is due at now_ms, each told to done after it.

        Actions added meanwhile wait for the next call.
        """
        heap = self._heap
        due = []
        while heap and heap[0][0] <= now_ms:
            due.append(heapq.heappop(heap)[2])
        for timer in due:
            action, timer.action = timer.action, None
            if action is not None:
                action()
                done(action)
            else:
                self._cancelled -= 1

    def one_was_cancelled(self) -> None:
        self._cancelled += 1
        if len(self._heap) >= _SWEEP_AT_LEAST and self._cancelled * 2 > len(self._heap):
            self._heap = [entry for entry in self._heap if entry[2].action is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0
