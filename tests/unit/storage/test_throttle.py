from __future__ import annotations

from math import inf

import pytest

from logquake.storage.throttle import Throttle


def test_bytes_take_their_time() -> None:
    throttle = Throttle(1_000)
    assert throttle.pause_ms(500, now_ms=0) == 500
    assert throttle.pause_ms(100, now_ms=500) == 100


def test_all_who_share_it_share_the_rate() -> None:
    throttle = Throttle(1_000)
    assert throttle.pause_ms(100, now_ms=0) == 100
    assert throttle.pause_ms(100, now_ms=0) == 200


def test_idle_time_is_no_credit() -> None:
    throttle = Throttle(1_000)
    throttle.pause_ms(100, now_ms=0)
    assert throttle.pause_ms(100, now_ms=50_000) == pytest.approx(100)


def test_without_a_bound_nobody_waits() -> None:
    assert Throttle(inf).pause_ms(10**12, now_ms=5) == 0
