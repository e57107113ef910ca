"""How long, and when, as people write it."""

from __future__ import annotations

import pytest

from logquake.cluster.cli.times import duration_ms, moment_ms, seconds
from logquake.cluster.errors import ClusterError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("30", 30), ("30s", 30), ("2.5s", 2.5), ("500ms", 0.5), ("5m", 300), ("1h", 3_600)],
)
def test_waits_are_seconds_unless_they_say_otherwise(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "5min", "-5s", "1e3", "s"])
def test_what_is_no_wait(text: str) -> None:
    with pytest.raises(ClusterError, match="is no time: write 500ms, 30s or 5m"):
        seconds(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500ms", 500),
        ("90s", 90_000),
        ("2h", 7_200_000),
        ("P1D", 86_400_000),
        ("PT1H30M", 5_400_000),
        ("P1DT0.5S", 86_400_500),
    ],
)
def test_durations(text: str, expected: int) -> None:
    assert duration_ms(text) == expected


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "soon", "-5s", "5"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ClusterError, match="write 90s, 2h or P1DT2H"):
        duration_ms(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1700000000000", 1_700_000_000_000),
        ("1970-01-01T00:00:01", 1_000),
        ("1970-01-01T00:00:01.250Z", 1_250),
        ("1970-01-01T01:00:00+01:00", 0),
    ],
)
def test_moments(text: str, expected: int) -> None:
    assert moment_ms(text) == expected


def test_what_is_no_moment() -> None:
    with pytest.raises(ClusterError, match="'noon' is no time"):
        moment_ms("noon")
