"""The queue of messages between senders and the thread that takes them."""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import Any

from logquake.client.classic.messages import KeyedMessage


class MessageQueue:
    """For several threads. Ending it needs no room, and wakes all waiters."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._messages: deque[KeyedMessage[Any, Any]] = deque()
        self._changed = Condition()
        self._is_ended = False

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def is_ended(self) -> bool:
        return self._is_ended

    def offer(self, message: KeyedMessage[Any, Any], timeout_s: float | None) -> bool:
        """Whether there was room in time; with None it waits for ever. An ended queue has no
        room.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_ended or self._has_room(), timeout_s)
            if self._is_ended or not self._has_room():
                return False
            self._messages.append(message)
            self._changed.notify_all()
            return True

    def take(self, timeout_s: float | None) -> KeyedMessage[Any, Any] | None:
        """None if none came in time, or it is ended and empty. None as timeout waits for ever."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_ended or self._messages, timeout_s)
            if not self._messages:
                return None
            self._changed.notify_all()
            return self._messages.popleft()

    def end(self) -> None:
        """Messages in it may still be taken."""
        with self._changed:
            self._is_ended = True
            self._changed.notify_all()

    def clear(self) -> None:
        with self._changed:
            self._messages.clear()
            self._changed.notify_all()

    def _has_room(self) -> bool:
        return len(self._messages) < self._size
