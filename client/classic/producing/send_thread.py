"""The thread that empties the asynchronous producer's queue (ProducerSendThread).

`Batching` decides when a batch is sent, `SendThread` waits and calls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producing.handling import Handling
from logquake.client.classic.producing.hooks import CallbackHandler, Messages, checked
from logquake.client.classic.producing.message_queue import MessageQueue
from logquake.client.clock import Clock

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Batching:
    """A batch is sent when it has ``size`` messages, or when no message arrived until ``time_ms``
    after the last batch was sent; with 0, when the queue is empty.
    """

    def __init__(self, hooks: CallbackHandler, size: int, time_ms: int, now_ms: int) -> None:
        self._hooks = hooks
        self._size = size
        self._time_ms = time_ms
        self._sent_at_ms = now_ms
        self._batch: list[KeyedMessage[Any, Any]] = []

    def wait_ms(self, now_ms: int) -> int | None:
        """How long to wait for the next message; None is for ever."""
        if not (self._time_ms or self._batch):
            return None  # no timer for this: it would expire all the time
        return max(0, self._sent_at_ms + self._time_ms - now_ms)

    def dequeued(self, message: KeyedMessage[Any, Any] | None) -> Messages | None:
        """None if none came in time. Returns a batch if one is due; then call sent()."""
        unchanged: Messages = () if message is None else (message,)
        self._batch += _unless_it_fails(
            lambda: checked(
                "after_dequeuing_existing_data", self._hooks.after_dequeuing_existing_data(message)
            ),
            unchanged,
        )
        if message is None or len(self._batch) >= self._size:
            return self._take()
        return None

    def sent(self, now_ms: int) -> None:
        self._sent_at_ms = now_ms

    def last(self) -> Messages:
        """At the end: the remaining messages, and those that the hook adds."""
        self._batch += _unless_it_fails(
            lambda: checked("last_batch_before_close", self._hooks.last_batch_before_close()), ()
        )
        return self._take()

    def close(self) -> None:
        _unless_it_fails(self._hooks.close, None)

    def _take(self) -> Messages:
        batch, self._batch = self._batch, []
        if not batch:
            return batch
        return _unless_it_fails(
            lambda: checked("before_sending_data", self._hooks.before_sending_data(batch)), batch
        )


class SendThread:
    """Starts at once. Errors in handling are logged; the end of the thread closes the hooks and
    ``handling``.
    """

    def __init__(
        self, name: str, handling: Handling, batching: Batching, queue_size: int, clock: Clock
    ) -> None:
        self._handling = handling
        self._batching = batching
        self._queue = MessageQueue(queue_size)
        self._clock = clock
        self._is_given_up = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def queue_size(self) -> int:
        return len(self._queue)

    @property
    def is_current(self) -> bool:
        """Whether the caller runs on this thread."""
        return threading.current_thread() is self._thread

    @property
    def is_ending(self) -> bool:
        return self._queue.is_ended

    def offer(self, message: KeyedMessage[Any, Any], timeout_s: float | None) -> bool:
        """Like MessageQueue.offer()."""
        return self._queue.offer(message, timeout_s)

    def close(self, timeout_ms: int | None) -> bool:
        """Send queued messages, then end. Returns whether that was done in time.

        Messages not sent in time are dropped, and the thread ends after its current batch. On the
        thread itself it does not wait, and drops nothing: the thread continues to its end. A second
        call waits too, but not for messages that were given up.
        """
        self._queue.end()
        if self.is_current:
            return False
        if self._is_given_up:
            return True
        self._thread.join(None if timeout_ms is None else timeout_ms / 1000)
        self._is_given_up = self._thread.is_alive()
        if self._is_given_up:
            self._queue.clear()
            self._handling.give_up()
        return not self._is_given_up

    def _run(self) -> None:
        try:
            self._send_all()
        finally:
            self._queue.end()  # on failure: nothing makes room any more
            self._batching.close()
            self._handling.close()

    def _send_all(self) -> None:
        while True:
            message = self._queue.take(self._wait_s())
            if message is None and self._queue.is_ended:
                break
            batch = self._batching.dequeued(message)
            if batch is not None:
                self._try_to_handle(batch)
                self._batching.sent(self._clock.now_ms())
        self._try_to_handle(self._batching.last())

    def _wait_s(self) -> float | None:
        wait_ms = self._batching.wait_ms(self._clock.now_ms())
        return None if wait_ms is None else wait_ms / 1000

    def _try_to_handle(self, batch: Messages) -> None:
        if not batch:
            return
        try:
            self._handling.handle(batch)
        except Exception:  # noqa: BLE001 - the next batch is not affected
            _log.exception("a batch of %d messages failed", len(batch))


def _unless_it_fails(hook: Callable[[], T], unchanged: T) -> T:
    try:
        return hook()
    except Exception:  # noqa: BLE001 - a program's, which must not lose messages
        _log.exception("a callback.handler failed")
        return unchanged
