"""The program's hooks between send() and the brokers: 0.7's callback.handler and event.handler
(kafka.producer.async.CallbackHandler and EventHandler).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from logquake.client.classic.messages import KeyedMessage

Messages = Sequence[KeyedMessage[Any, Any]]
SendOn = Callable[[Messages], None]


class CallbackHandler:
    """A base class whose methods do nothing by default. Only for the asynchronous producer.

    The first two, before_enqueue and after_enqueue, are called on the sending thread, where send()
    raises their exceptions. The others are called on the producer's thread, where exceptions are
    logged, and the hook's input is used unchanged; so it is if the hook returns None, or anything
    but messages. Each may send, and close the producer; on the producer's own thread send() does
    not wait for room.
    """

    def before_enqueue(self, message: KeyedMessage[Any, Any]) -> KeyedMessage[Any, Any]:
        """``beforeEnqueue``: returns the message to enqueue instead."""
        return message

    def after_enqueue(self, message: KeyedMessage[Any, Any], added: bool) -> None:
        """``afterEnqueue``: ``added`` is False if the queue was full."""

    def after_dequeuing_existing_data(self, message: KeyedMessage[Any, Any] | None) -> Messages:
        """``afterDequeuingExistingData``: returns messages to add to the batch. It gets None each
        time that the batch's time is up; with queue.buffering.max.ms=0, once per batch.
        """
        return () if message is None else (message,)

    def before_sending_data(self, messages: Messages) -> Messages:
        """``beforeSendingData``: returns the messages to send instead of the batch."""
        return messages

    def last_batch_before_close(self) -> Messages:
        """``lastBatchBeforeClose``: returns messages to add to the last batch."""
        return ()

    def close(self) -> None: ...


class EventHandler(Protocol):
    """Handles a batch, or, in the synchronous producer, the messages of one send()."""

    def handle(self, messages: Messages, send_on: SendOn) -> None:
        """``send_on`` is the default handling: choose partitions, serialize, write.

        May raise anything, which the caller of send() gets, or the log.
        """

    def close(self) -> None: ...


def checked(hook: str, messages: Messages) -> Messages:
    """The messages a hook returned. Raises TypeError for anything else, or what iterating does."""
    if messages is None:
        raise TypeError(f"callback.handler: {hook} returned None: () stands for no messages")
    return [checked_message(hook, each) for each in messages]


def checked_message(source: str, message: object) -> KeyedMessage[Any, Any]:
    """Raises TypeError if it is not a message."""
    if not isinstance(message, KeyedMessage):
        raise TypeError(f"a KeyedMessage is needed, but from {source} came {message!r}")
    return message
