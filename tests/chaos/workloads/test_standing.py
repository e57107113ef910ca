"""Who stands in one call for too long is let go; who only takes long is not."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event

import pytest

from logquake.chaos.workloads.standing import Stuck, run_watched

LOOK_S = 0.001
LONGEST_S = 0.2


@pytest.fixture
def late() -> Iterator[Event]:
    """Comes at the end of the test."""
    event = Event()
    yield event
    event.set()


def test_what_ends_is_waited_for() -> None:
    seen: list[int] = []
    run_watched(lambda: seen.append(1))
    assert seen == [1]


def test_what_is_raised_is_raised() -> None:
    def fails() -> None:
        raise ZeroDivisionError("by zero")

    with pytest.raises(ZeroDivisionError, match="by zero"):
        run_watched(fails)


def test_who_never_returns_from_a_call_says_where_it_stands(late: Event) -> None:
    with pytest.raises(Stuck, match=r"it has been in Condition\.wait \(threading\.py, line \d+\)"):
        run_watched(late.wait, LONGEST_S, LOOK_S)


def test_who_makes_many_short_calls_is_not_stuck() -> None:
    never = Event()

    def waits_often() -> None:
        for _ in range(300):
            never.wait(LOOK_S)

    run_watched(waits_often, LONGEST_S, LOOK_S)
