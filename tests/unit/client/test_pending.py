"""What a part of a call comes to is settled once, and told when nobody has the core to himself."""

from __future__ import annotations

import logging

import pytest

from logquake.client.errors import ClosedError
from logquake.client.pending import Promise
from logquake.client.telling import Telling


def test_it_is_settled_at_once_and_told_later_in_order() -> None:
    telling, told = Telling(), list[str]()
    first, second = Promise[int](telling), Promise[int](telling)
    second.when_done(lambda: told.append("second"))
    first.when_done(lambda: told.append("first"))
    first.when_done(lambda: told.append("first again"))
    first.settle(1)
    second.settle(2)
    assert first.is_done
    assert first.outcome == 1
    assert told == []
    telling.tell()
    assert told == ["first", "first again", "second"]


def test_nothing_may_be_what_it_comes_to() -> None:
    promise = Promise[None](Telling())
    with pytest.raises(RuntimeError):
        _ = promise.outcome
    promise.settle(None)
    assert promise.is_done
    assert promise.outcome is None


def test_what_comes_after_the_first_is_of_no_interest() -> None:
    promise = Promise[int](Telling())
    error = ClosedError("gone")
    promise.settle(error)
    promise.settle(1)
    assert promise.outcome is error


def test_a_callback_that_raises_is_logged_and_keeps_nobody_from_being_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    telling, told = Telling(), list[str]()
    telling.add(lambda: told[0])
    telling.add(lambda: told.append("told"))
    with caplog.at_level(logging.ERROR):
        telling.tell()
    assert told == ["told"]
    assert "IndexError" in caplog.text
