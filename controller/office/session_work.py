"""Work that needs a ZooKeeper session but not the office: whichever session there is, does it.

What a session leaves undone when it ends is begun anew in the next one. Nothing of it may write
as the controller.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.office.event_queue import ControllerEvent, EventQueue
from logquake.zk.procedure import Procedure


class SessionWork:
    def __init__(self, queue: EventQueue) -> None:
        self._queue = queue
        self._unfinished: list[ControllerEvent] = []

    def put(self, name: str, procedure: Callable[[], Procedure[None]]) -> None:
        event = ControllerEvent(name, procedure, lambda _code: self._unfinished.append(event))
        self._queue.put(event)

    def resume(self) -> None:
        """A session serves."""
        unfinished, self._unfinished = self._unfinished, []
        for event in unfinished:
            self._queue.put(event)
