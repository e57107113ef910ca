"""The rate of connections, as Kafka measures it over windows."""

from __future__ import annotations

from logquake.node.net.connection_rate import UNLIMITED, ConnectionRate


def test_a_burst_of_what_may_come_within_the_windows_passes() -> None:
    rate = ConnectionRate(10, windows=11, window_ms=1_000)
    assert [rate.record(0) for _ in range(100)] == [0] * 100
    assert rate.record(0) == 100  # 101 in 10 seconds: a tenth of a second more of them
    assert rate.record(0) == 200


def test_nobody_waits_longer_than_a_window() -> None:
    rate = ConnectionRate(1, windows=2, window_ms=1_000)
    assert [rate.record(0) for _ in range(4)] == [0, 1_000, 1_000, 1_000]


def test_what_is_long_ago_is_forgotten() -> None:
    rate = ConnectionRate(1, windows=2, window_ms=1_000)
    rate.record(0)
    rate.record(0)
    assert rate.record(1_000) > 0
    assert rate.record(3_000) == 0


def test_without_a_bound_nothing_is_counted() -> None:
    rate = ConnectionRate(UNLIMITED, windows=2, window_ms=1_000)
    assert [rate.record(0) for _ in range(5)] == [0] * 5


def test_the_bound_may_change() -> None:
    rate = ConnectionRate(1, windows=2, window_ms=1_000)
    rate.record(0)
    rate.bound = 2
    assert rate.record(0) == 0
