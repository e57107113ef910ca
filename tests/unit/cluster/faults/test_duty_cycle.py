from __future__ import annotations

from itertools import islice

import pytest

from logquake.cluster.faults.duty_cycle import slices


def test_slices_come_from_the_seed_and_keep_the_share() -> None:
    some = list(islice(slices(1, 0.4, 50, 400), 2_000))
    assert some == list(islice(slices(1, 0.4, 50, 400), 2_000))
    assert some != list(islice(slices(2, 0.4, 50, 400), 2_000))
    running, stopped = (sum(column) for column in zip(*some, strict=True))
    assert stopped / (running + stopped) == pytest.approx(0.4, abs=0.01)
    assert all(50 <= stop_ms <= 400 for _, stop_ms in some)
