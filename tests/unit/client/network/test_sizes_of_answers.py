"""What an answer may weigh follows from what was asked."""

from __future__ import annotations

import pytest

from logquake.client.errors import MalformedResponseError
from tests.unit.client.network.asked import BOUND, Asked


def test_an_answer_without_records_is_no_larger_than_it_may_be() -> None:
    asked = Asked()
    asked.greet()
    asked.metadata()
    asked.announce(BOUND + 1)
    (told,) = asked.told
    assert isinstance(told, MalformedResponseError)
    assert asked.is_over


def test_records_may_be_as_large_as_they_were_asked_for() -> None:
    asked = Asked()
    asked.greet()
    asked.fetch()
    asked.metadata()
    asked.announce(4 * BOUND)
    assert asked.told == []
    assert not asked.is_over


def test_what_is_answered_first_was_asked_first() -> None:
    asked = Asked()
    asked.greet()
    asked.metadata()
    asked.fetch()
    asked.announce(4 * BOUND)
    assert isinstance(asked.told[0], MalformedResponseError)
    assert asked.is_over


@pytest.mark.parametrize("is_greeted", [False, True])
def test_whoever_was_asked_nothing_has_little_to_say(*, is_greeted: bool) -> None:
    asked = Asked()
    if is_greeted:
        asked.greet()
    asked.announce(BOUND)
    assert asked.is_over
