"""producer.type=async: senders put messages into a queue (Producer.asyncSend of 0.8)."""

from __future__ import annotations

from threading import RLock
from typing import Any

from logquake.client.classic.errors import QueueFullError
from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producing.hooks import CallbackHandler, Messages, checked_message
from logquake.client.classic.producing.send_thread import SendThread
from logquake.client.classic.producing.statistics import ProducerStatistics
from logquake.client.errors import ProducerClosedError


class Queueing:
    """For several threads, of which one at a time sends.

    The queue's own thread, where hooks and the event.handler may send as well, does not take part:
    only it makes room, so it would wait for ever for room, or for senders that wait for room.
    """

    def __init__(
        self,
        thread: SendThread,
        hooks: CallbackHandler,
        statistics: ProducerStatistics,
        timeout_ms: int,
    ) -> None:
        """``timeout_ms`` limits the wait for room: 0 does not wait, negative waits for ever."""
        self._thread = thread
        self._hooks = hooks
        self._statistics = statistics
        self._timeout_s = None if timeout_ms < 0 else timeout_ms / 1000
        self._lock = RLock()

    def send(self, messages: Messages) -> None:
        """Raises ProducerClosedError, QueueFullError, what hooks raise, and TypeError if
        before_enqueue does not return a message.
        """
        if self._thread.is_current:
            self._enqueue_all(messages, 0)
        else:
            with self._lock:
                self._enqueue_all(messages, self._timeout_s)

    def close(self, timeout_ms: int | None) -> bool:
        """As SendThread.close(): callers waiting for room get an error, and are not waited for."""
        return self._thread.close(timeout_ms)

    def gauges(self) -> dict[str, int]:
        return {"ProducerQueueSize": self._thread.queue_size}

    def _enqueue_all(self, messages: Messages, timeout_s: float | None) -> None:
        for each in messages:
            self._enqueue(each, timeout_s)

    def _enqueue(self, message: KeyedMessage[Any, Any], timeout_s: float | None) -> None:
        message = checked_message("send() or before_enqueue", self._hooks.before_enqueue(message))
        added = self._thread.offer(message, timeout_s)
        self._hooks.after_enqueue(message, added)
        if not added and self._thread.is_ending:
            raise ProducerClosedError(f"the producer was closed, not sent: one for {message.topic}")
        if not added:
            self._statistics.dropped(message.topic)
            raise QueueFullError(f"the queue is full, a message for {message.topic} is dropped")
