"""The asynchronous producer's queue, and the thread that empties it (ProducerSendThread).

`Batching` decides when a batch is sent, `SendThread` waits and calls.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Full, Queue
from typing import Any, TypeVar

from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producing.hooks import CallbackHandler, Messages
from logquake.client.clock import Clock

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Batching:
    """A batch is sent when it has ``size`` messages, or when none came until ``time_ms`` after the
    last one was.
    """

    def __init__(self, hooks: CallbackHandler, size: int, time_ms: int, now_ms: int) -> None:
        self._hooks = hooks
        self._size = size
        self._time_ms = time_ms
        self._sent_at_ms = now_ms
        self._batch: list[KeyedMessage[Any, Any]] = []

    def wait_ms(self, now_ms: int) -> int:
        """For the next message."""
        return max(0, self._sent_at_ms + self._time_ms - now_ms)

    def dequeued(self, message: KeyedMessage[Any, Any] | None) -> Messages | None:
        """None came in time. What is to be sent, if it is time; sent() follows."""
        unchanged: Messages = () if message is None else (message,)
        self._batch += _unless_it_fails(
            lambda: self._hooks.after_dequeuing_existing_data(message), unchanged
        )
        if message is None or len(self._batch) >= self._size:
            return self._take()
        return None

    def sent(self, now_ms: int) -> None:
        self._sent_at_ms = now_ms

    def last(self) -> Messages:
        """At the end: what is left, and what the hook adds."""
        self._batch += _unless_it_fails(self._hooks.last_batch_before_close, ())
        return self._take()

    def _take(self) -> Messages:
        batch, self._batch = self._batch, []
        if not batch:
            return batch
        return _unless_it_fails(lambda: self._hooks.before_sending_data(batch), batch)


class SendThread:
    """Starts at once. ``handle`` is called with each batch, and may raise: that is logged;
    ``at_end`` when all is sent.
    """

    def __init__(
        self,
        name: str,
        handle: Callable[[Messages], None],
        batching: Batching,
        queue_size: int,
        clock: Clock,
        at_end: Callable[[], None],
    ) -> None:
        self._handle = handle
        self._at_end = at_end
        self._batching = batching
        self._queue: Queue[KeyedMessage[Any, Any] | None] = Queue(queue_size)  # None: the end
        self._clock = clock
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def queue_size(self) -> int:
        return self._queue.qsize()

    def offer(self, message: KeyedMessage[Any, Any], timeout_ms: int) -> bool:
        """Whether there was room, or room came in time; below zero it waits as long as it takes."""
        try:
            if timeout_ms == 0:
                self._queue.put_nowait(message)
            else:
                self._queue.put(message, timeout=None if timeout_ms < 0 else timeout_ms / 1000)
        except Full:
            return False
        return True

    def shut_down(self, timeout_ms: int | None) -> bool:
        """Send what is queued, then end; whether that was done in time. Nothing is offered then.

        What is not sent in time is dropped; the thread ends once its batch is over.
        """
        timeout_s = None if timeout_ms is None else timeout_ms / 1000
        with suppress(Full):
            self._queue.put(None, timeout=timeout_s)
            self._thread.join(timeout_s)
        if self._thread.is_alive():
            self._drop_all()
            return False
        return True

    def _drop_all(self) -> None:
        with suppress(Empty):
            while True:
                self._queue.get_nowait()
        self._queue.put_nowait(None)

    def _run(self) -> None:
        try:
            self._send_all()
        finally:
            self._at_end()

    def _send_all(self) -> None:
        while True:
            try:
                message = self._queue.get(timeout=self._wait_s())
                is_end = message is None
            except Empty:
                message, is_end = None, False
            if is_end:
                break
            batch = self._batching.dequeued(message)
            if batch is not None:
                self._try_to_handle(batch)
                self._batching.sent(self._clock.now_ms())
        self._try_to_handle(self._batching.last())

    def _wait_s(self) -> float:
        return self._batching.wait_ms(self._clock.now_ms()) / 1000

    def _try_to_handle(self, batch: Messages) -> None:
        if not batch:
            return
        try:
            self._handle(batch)
        except Exception:  # noqa: BLE001 - the next batch has nothing to do with it
            _log.exception("a batch of %d messages failed", len(batch))


def _unless_it_fails(hook: Callable[[], T], unchanged: T) -> T:
    try:
        return hook()
    except Exception:  # noqa: BLE001 - a program's, which must not lose messages
        _log.exception("a callback.handler failed")
        return unchanged
