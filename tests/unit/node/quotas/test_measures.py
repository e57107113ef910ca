"""Rates and buckets, with the numbers of Kafka's Rate and TokenBucket."""

from __future__ import annotations

import pytest

from logquake.node.quotas.measures import Rate, TokenBucket, Windows

WINDOWS = Windows(samples=11, length_ms=1_000)
BEGIN_MS = 5_000


def used(*records: tuple[int, float]) -> Rate:
    """At so many ms after the begin."""
    rate = Rate(WINDOWS)
    for after_ms, amount in records:
        rate.record(amount, BEGIN_MS + after_ms)
    return rate


@pytest.mark.parametrize(
    ("records", "at_ms", "elapsed_ms", "rate"),
    [
        ([], 0, 10_000, 0),
        # All windows but one are taken as passed.
        ([(0, 500)], 0, 10_000, 50),
        ([(0, 500)], 999, 10_999, 500_000 / 10_999),
        ([(0, 500)], 1_000, 10_000, 50),
        ([(0, 500), (1_500, 500)], 1_500, 10_500, 1_000_000 / 10_500),
        # Use in every window: the rate is taken over what has passed.
        ([(second * 1_000, 100) for second in range(11)], 10_000, 10_000, 110),
        ([(second * 1_000, 100) for second in range(11)], 10_600, 10_600, 1_100_000 / 10_600),
        # What was used before the span is forgotten, whole windows at a time.
        ([(0, 500), (10_500, 100)], 10_999, 10_999, 600_000 / 10_999),
        ([(0, 500), (10_500, 100)], 11_000, 10_500, 100_000 / 10_500),
        ([(0, 500), (900, 500), (10_500, 100)], 11_500, 11_500, 1_100_000 / 11_500),
        ([(0, 500)], 60_000, 10_000, 0),
    ],
)
def test_a_rate_over_windows(
    records: list[tuple[int, float]], at_ms: int, elapsed_ms: int, rate: float
) -> None:
    measured = used(*records)
    assert measured.elapsed_ms(BEGIN_MS + at_ms) == elapsed_ms
    assert measured.measure(BEGIN_MS + at_ms) == pytest.approx(rate)


def test_what_is_taken_back_was_not_used() -> None:
    assert used((0, 500), (0, -500)).measure(BEGIN_MS) == 0


def test_a_rate_forgets_as_it_goes() -> None:
    rate = used(*((second * 1_000, 1) for second in range(1_000)))
    assert rate.measure(BEGIN_MS + 999_000) == pytest.approx(11 / 10)


def test_a_bucket_begins_full_and_comes_back() -> None:
    bucket = TokenBucket(WINDOWS)
    assert bucket.tokens(5, BEGIN_MS) == 55
    bucket.take(60, 5, BEGIN_MS)
    assert bucket.tokens(5, BEGIN_MS) == -5
    assert bucket.tokens(5, BEGIN_MS + 500) == -2.5
    assert bucket.tokens(5, BEGIN_MS + 60_000) == 55


def test_a_bucket_follows_its_rate() -> None:
    bucket = TokenBucket(WINDOWS)
    bucket.take(0, 100, BEGIN_MS)
    assert bucket.tokens(1, BEGIN_MS) == 11
