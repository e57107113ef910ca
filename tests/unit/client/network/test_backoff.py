"""Waits that grow, and differ."""

from __future__ import annotations

from random import Random

import pytest

from logquake.client.network.backoff import ExponentialBackoff


def test_waits_double_up_to_their_bound() -> None:
    backoff = ExponentialBackoff(100, 1000, Random(1))
    for attempts, middle in enumerate([100, 200, 400, 800]):
        waits = [backoff.after(attempts) for _ in range(200)]
        assert middle * 0.8 - 1 <= min(waits) < middle * 0.85
        assert middle * 1.15 < max(waits) <= min(1000, middle * 1.2)
    assert {backoff.after(100) for _ in range(200)} >= {1000}
    assert max(backoff.after(10**9) for _ in range(10)) <= 1000


@pytest.mark.timeout(20)
def test_no_wait_does_not_grow_however_often_it_was_waited() -> None:
    assert ExponentialBackoff(0, 1000, Random(1)).after(10**12) == 0


def test_a_wait_that_may_not_grow_is_always_the_same() -> None:
    backoff = ExponentialBackoff(100, 50, Random(1))
    assert {backoff.after(attempts) for attempts in range(5)} == {50}
