"""When the asynchronous producer sends what it has queued, and what its hooks make of it."""

from __future__ import annotations

from typing import Any, cast

import pytest

from logquake.client.classic.messages import KeyedMessage
from logquake.client.classic.producing.hooks import CallbackHandler, Messages
from logquake.client.classic.producing.send_thread import Batching


def message(text: str) -> KeyedMessage[Any, Any]:
    return KeyedMessage("t", text)


def texts(messages: Messages | None) -> list[str] | None:
    return None if messages is None else [each.message for each in messages]


class Hooks(CallbackHandler):
    def after_dequeuing_existing_data(self, message: KeyedMessage[Any, Any] | None) -> Messages:
        return [KeyedMessage("t", "nothing")] if message is None else [message, message]

    def before_sending_data(self, messages: Messages) -> Messages:
        return [*messages, message("before")]

    def last_batch_before_close(self) -> Messages:
        return [message("last")]


class Returning(CallbackHandler):
    """As who forgets to return something does."""

    def __init__(self, returned: Any) -> None:
        self._returned = returned

    def after_dequeuing_existing_data(self, _: KeyedMessage[Any, Any] | None) -> Messages:
        return cast(Messages, self._returned)

    def before_sending_data(self, _: Messages) -> Messages:
        return cast(Messages, self._returned)

    def last_batch_before_close(self) -> Messages:
        return cast(Messages, self._returned)


class Failing(CallbackHandler):
    def after_dequeuing_existing_data(self, message: KeyedMessage[Any, Any] | None) -> Messages:
        raise ValueError(message)

    def before_sending_data(self, messages: Messages) -> Messages:
        raise ValueError(messages)


def test_a_batch_is_sent_when_it_is_full() -> None:
    batching = Batching(CallbackHandler(), 2, 100, 0)
    assert batching.dequeued(message("a")) is None
    assert texts(batching.dequeued(message("b"))) == ["a", "b"]
    assert batching.dequeued(message("c")) is None


def test_a_batch_is_sent_when_its_time_is_over() -> None:
    batching = Batching(CallbackHandler(), 9, 100, 1_000)
    assert [batching.wait_ms(now) for now in (1_000, 1_060, 1_200)] == [100, 40, 0]
    batching.dequeued(message("a"))
    assert texts(batching.dequeued(None)) == ["a"]
    batching.sent(1_200)
    assert batching.wait_ms(1_250) == 50


def test_hooks_add_to_batches_and_replace_them() -> None:
    batching = Batching(Hooks(), 3, 100, 0)
    assert batching.dequeued(message("a")) is None
    assert texts(batching.dequeued(message("b"))) == ["a", "a", "b", "b", "before"]
    assert texts(batching.dequeued(None)) == ["nothing", "before"]
    assert texts(batching.last()) == ["last", "before"]


def test_a_hook_that_fails_loses_nothing() -> None:
    batching = Batching(Failing(), 2, 100, 0)
    batching.dequeued(message("a"))
    assert texts(batching.dequeued(message("b"))) == ["a", "b"]
    assert texts(batching.last()) == []


@pytest.mark.parametrize("returned", [None, 7, "text", [None], [b"m"], message("whole")])
def test_a_hook_that_returns_no_messages_is_logged_and_loses_nothing(
    returned: object, caplog: pytest.LogCaptureFixture
) -> None:
    batching = Batching(Returning(returned), 2, 100, 0)
    assert batching.dequeued(message("a")) is None
    assert texts(batching.dequeued(message("b"))) == ["a", "b"]
    batching.dequeued(message("c"))
    assert texts(batching.last()) == ["c"]
    assert len([each for each in caplog.records if "callback.handler failed" in each.message]) == 6


def test_without_a_time_a_batch_is_what_the_queue_has_and_then_nothing_is_looked_at() -> None:
    batching = Batching(CallbackHandler(), 9, 0, 1_000)
    assert batching.wait_ms(1_000) is None
    batching.dequeued(message("a"))
    assert batching.wait_ms(1_000) == 0
    assert texts(batching.dequeued(None)) == ["a"]
    batching.sent(1_001)
    assert batching.wait_ms(1_050) is None
