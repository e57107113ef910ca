"""producer.type=sync: send() waits until the messages are written (Producer.send of 0.8)."""

from __future__ import annotations

from threading import RLock

from logquake.client.classic.producing.handling import Handling
from logquake.client.classic.producing.hooks import Messages
from logquake.client.errors import ProducerClosedError


class SendingAtOnce:
    """For several threads, one at a time sends; its event.handler may send and close as well."""

    def __init__(self, handling: Handling) -> None:
        self._handling = handling
        self._lock = RLock()
        self._is_closed = False
        self._is_given_up = False
        self._has_ended = False

    def send(self, messages: Messages) -> None:
        """Raises ProducerClosedError, and what handling raises."""
        try:
            with self._lock:
                if self._is_closed:
                    raise ProducerClosedError("the producer was closed")
                self._handling.handle(messages)
        finally:
            if self._is_given_up:  # close() gave up waiting for us, so we have to end it
                self._end(0)

    def close(self, timeout_ms: int | None) -> bool:
        """Returns whether a running send() ended in time; if not, it is given up, and ends by
        itself. A second call waits too, but not for one that was given up.
        """
        self._is_closed = True
        if self._is_given_up or self._end(-1 if timeout_ms is None else timeout_ms / 1000):
            return True
        self._is_given_up = True
        self._handling.give_up()
        self._end(0)  # it may have ended just now
        return False

    def gauges(self) -> dict[str, int]:
        return {}

    def _end(self, timeout_s: float) -> bool:
        """End once no thread sends. Returns whether that was in time; -1 waits for ever."""
        if not self._lock.acquire(timeout=timeout_s):
            return False
        try:
            if not self._has_ended:
                self._has_ended = True
                self._handling.close()
        finally:
            self._lock.release()
        return True
