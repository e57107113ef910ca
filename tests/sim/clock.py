"""Virtual time: one queue of events, taken in order of time and, at the same time, of arrival."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

Action = Callable[[], None]


@dataclass(slots=True, eq=False)
class Event:
    """Something that will happen, unless it is cancelled."""

    label: str
    action: Action | None

    def cancel(self) -> None:
        self.action = None


class Clock:
    """Times are microseconds since the simulation began."""

    def __init__(self) -> None:
        self.now_us = 0
        self._queue: list[tuple[int, int, Event]] = []
        self._scheduled = 0

    def at(self, at_us: int, label: str, action: Action) -> Event:
        self._scheduled += 1
        event = Event(label, action)
        heapq.heappush(self._queue, (max(at_us, self.now_us), self._scheduled, event))
        return event

    def after(self, delay_us: int, label: str, action: Action) -> Event:
        return self.at(self.now_us + delay_us, label, action)

    def next_event(self) -> Event | None:
        """Take the next event and set the time to it; None when nothing is left to happen."""
        while self._queue:
            at_us, _, event = heapq.heappop(self._queue)
            if event.action is not None:
                self.now_us = at_us
                return event
        return None
