"""When the next record is due: at a steady rate, or at once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic

_LONGEST_WAIT_S = 0.1  # after which a caller looks whether it is to end
_SHORTEST_WAIT_S = 0.002  # below, records go out in small groups: waiting is not free
_MOST_BEHIND_S = 0.2  # of a process that was paused: it makes up for that much, and no more


class Pace:
    """``per_second`` 0 means as fast as it goes. ``wait(seconds)`` may return early."""

    def __init__(
        self,
        per_second: float,
        wait: Callable[[float], object],
        now_s: Callable[[], float] = monotonic,
    ) -> None:
        self._step_s = 1 / per_second if per_second else 0.0
        self._wait = wait
        self._now_s = now_s
        self._due_s = now_s()

    def comes_before(self, stopping: Event) -> bool:
        """Wait for the next one's turn; False if all is to end first."""
        while not stopping.is_set():
            if self.is_due():
                return True
        return False

    def is_due(self) -> bool:
        """Whether one more may go out; waits a little where not."""
        left_s = self._due_s - self._now_s()
        if left_s > _SHORTEST_WAIT_S:
            self._wait(min(left_s, _LONGEST_WAIT_S))
            left_s = self._due_s - self._now_s()
        if left_s > _SHORTEST_WAIT_S:
            return False
        self._due_s += max(self._step_s, -left_s - _MOST_BEHIND_S)
        return True
