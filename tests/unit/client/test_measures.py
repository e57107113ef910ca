"""How much, how often and how long, lately: what is older than a minute counts in totals alone."""

from __future__ import annotations

from math import isnan

import pytest

from logquake.client.measures import Measure

MINUTE_MS = 60_000


def test_a_first_burst_is_measured_against_half_a_minute() -> None:
    measure = Measure("record-send")
    measure.add(60, 1_000)
    assert measure.flow(1_000) == {"record-send-rate": 2.0, "record-send-total": 60}


def test_what_goes_on_is_measured_against_the_time_it_took() -> None:
    measure = Measure("record-send")
    for second in range(41):
        measure.add(3, second * 1_000)
    assert measure.flow(40_000)["record-send-rate"] == pytest.approx(123 / 40)


def test_what_is_old_counts_in_the_total_alone() -> None:
    measure = Measure("record-send")
    measure.add(60, 0)
    assert measure.flow(MINUTE_MS) == {"record-send-rate": 0.0, "record-send-total": 60}
    measure.add(3, MINUTE_MS)
    assert measure.flow(MINUTE_MS)["record-send-total"] == 63


def test_an_average_and_the_most() -> None:
    measure = Measure("batch-size")
    for size in (10, 30, 20):
        measure.add(size, 1_000)
    assert measure.spread(2_000) == {"batch-size-avg": 20.0, "batch-size-max": 30}


def test_of_nothing_there_is_no_average() -> None:
    assert all(isnan(each) for each in Measure("batch-size").spread(0).values())
