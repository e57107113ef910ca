"""A wait returns what it saw, and tells what it saw when that never was what it waited for."""

from __future__ import annotations

from itertools import count

import pytest

from tests.waiting import wait_for


def test_what_was_waited_for_is_returned() -> None:
    assert wait_for("third", iter((1, 2, 3, 4)).__next__, lambda seen: seen > 2) == 3


def test_what_is_not_ready_is_waited_out() -> None:
    tries = count()

    def look() -> int:
        if (number := next(tries)) < 2:
            raise ConnectionError("refused")
        return number

    assert wait_for("answer", look, unready=(ConnectionError,)) == 2


def test_a_time_out_names_what_was_waited_for_and_what_there_was() -> None:
    with pytest.raises(AssertionError, match="no leader in 0 s, but -1"):
        wait_for("leader", lambda: -1, lambda leader: leader >= 0, timeout_s=0)


def test_a_time_out_tells_what_was_raised_last() -> None:
    def look() -> None:
        raise ConnectionError("refused")

    with pytest.raises(AssertionError, match="no answer in 0 s, but ConnectionError"):
        wait_for("answer", look, unready=(ConnectionError,), timeout_s=0)


def test_any_other_error_is_the_testers() -> None:
    def look() -> None:
        raise KeyError("bug")

    with pytest.raises(KeyError):
        wait_for("answer", look, unready=(ConnectionError,))
