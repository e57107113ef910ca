from __future__ import annotations

import pytest

from logquake.chaos.workloads.pacing import Pace


class Waiting:
    """A clock that waits by going on."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def now(self) -> float:
        return self.now_s

    def wait(self, seconds: float) -> None:
        self.now_s += seconds


def sent_within(seconds: float, pace: Pace, clock: Waiting) -> int:
    sent, ends_s = 0, clock.now_s + seconds
    while clock.now_s < ends_s:
        sent += pace.is_due()
    return sent


@pytest.mark.parametrize("per_second", [0.5, 3, 100, 20_000])
def test_as_many_are_due_as_were_asked_for(per_second: float) -> None:
    clock = Waiting()
    pace = Pace(per_second, clock.wait, clock.now)
    assert sent_within(10.0, pace, clock) == pytest.approx(10 * per_second, abs=1, rel=0.01)


def test_flat_out_never_waits() -> None:
    clock = Waiting()
    pace = Pace(0, clock.wait, clock.now)
    assert all(pace.is_due() for _ in range(1_000))
    assert clock.now_s == 100.0


def test_a_slow_pace_comes_back_now_and_then_to_be_ended() -> None:
    clock = Waiting()
    pace = Pace(0.01, clock.wait, clock.now)
    assert pace.is_due()
    assert not pace.is_due()
    assert clock.now_s < 101.0


def test_who_was_paused_for_long_makes_up_for_little() -> None:
    clock = Waiting()
    pace = Pace(100, clock.wait, clock.now)
    assert pace.is_due()
    clock.now_s += 60.0
    assert sent_within(1.0, pace, clock) < 130
