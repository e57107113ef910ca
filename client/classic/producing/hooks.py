"""Where a program may step in between send() and the brokers: 0.7's callback.handler and
event.handler (kafka.producer.async.CallbackHandler and EventHandler).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from logquake.client.classic.messages import KeyedMessage

Messages = Sequence[KeyedMessage[Any, Any]]
SendOn = Callable[[Messages], None]


class CallbackHandler:
    """To be derived from: what is not overridden does nothing. Of the asynchronous producer alone.

    The first two are called on the thread of whoever sends, before_enqueue and after_enqueue; the
    others on the producer's. What a hook raises on the latter is logged, and what it was given
    goes on as it was; it fails, too, where it returns None, or what are no messages. On the former
    send() raises it. Each may send, and close the producer; on the producer's own thread send()
    does not wait for room.
    """

    def before_enqueue(self, message: KeyedMessage[Any, Any]) -> KeyedMessage[Any, Any]:
        """``beforeEnqueue``: what is to enter the queue in its place."""
        return message

    def after_enqueue(self, message: KeyedMessage[Any, Any], added: bool) -> None:
        """``afterEnqueue``: not added where the queue was full."""

    def after_dequeuing_existing_data(self, message: KeyedMessage[Any, Any] | None) -> Messages:
        """``afterDequeuingExistingData``: what is to be added to the batch; None was dequeued when
        its time is over, each time; with queue.buffering.max.ms=0, once for each batch.
        """
        return () if message is None else (message,)

    def before_sending_data(self, messages: Messages) -> Messages:
        """``beforeSendingData``: what is to be sent in the batch's place."""
        return messages

    def last_batch_before_close(self) -> Messages:
        """``lastBatchBeforeClose``: what is to be added to the last batch."""
        return ()

    def close(self) -> None: ...


class EventHandler(Protocol):
    """What becomes of a batch, and in the synchronous producer of what send() was given."""

    def handle(self, messages: Messages, send_on: SendOn) -> None:
        """``send_on`` does what happens without a handler: choose partitions, serialize, write.

        Raises what it likes: to whoever sends, or else to the log.
        """

    def close(self) -> None: ...


def checked(hook: str, messages: Messages) -> Messages:
    """What the hook returned. Raises TypeError where it is no messages, and what reading raises."""
    if messages is None:
        raise TypeError(f"callback.handler: {hook} returned None: () stands for no messages")
    return [checked_message(hook, each) for each in messages]


def checked_message(source: str, message: object) -> KeyedMessage[Any, Any]:
    """Raises TypeError where it is none."""
    if not isinstance(message, KeyedMessage):
        raise TypeError(f"a KeyedMessage is needed, but from {source} came {message!r}")
    return message
