"""Rows no faster than so many a second."""

from __future__ import annotations

import pyarrow as pa
import pytest

from logquake.pipeline.jobs.pacing import paced


class Time:
    def __init__(self) -> None:
        self.now_s = 0.0

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.mark.parametrize("rate", [1, 7, 50, 1_000_000])
def test_all_rows_come_in_order_and_never_faster(rate: int) -> None:
    time = Time()
    batches = [pa.record_batch({"n": list(range(start, start + 30))}) for start in (0, 30, 60)]
    seen: list[int] = []
    for batch in paced(rate, lambda: time.now_s, time.sleep)(batches):
        assert len(seen) <= time.now_s * rate + 0.001
        seen += batch.column("n").to_pylist()
    assert seen == list(range(90))


def test_a_slow_stretch_is_not_made_up_for() -> None:
    time = Time()
    batches = paced(10, lambda: time.now_s, time.sleep)([pa.record_batch({"n": [1, 2, 3]})])
    next(batches)
    time.now_s = 100.0
    next(batches)
    assert time.now_s == 100.0
    next(batches)
    assert time.now_s == pytest.approx(100.1)
