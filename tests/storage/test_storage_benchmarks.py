"""The benchmarks of storage, each work once and tiny: both sides measure, and in the same units."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import cases_of, medians
from benchmarks.report import document
from benchmarks.storage.sides import LIMIT, OURS
from benchmarks.storage.works import Scale, Work, measure_storage

TINY = Scale(
    append_batches=3,
    recovery_bytes=100_000,
    compaction_bytes=400_000,
    segments=5,
    index_entries=300,
    partitions=50,
)


@pytest.mark.parametrize("work", Work)
def test_a_work_is_measured_beside_its_limit(work: Work, tmp_path: Path) -> None:
    results = measure_storage([work], tmp_path, 2, TINY)
    assert results
    for case in cases_of(results):
        ours, limit = medians(results, case, OURS.name), medians(results, case, LIMIT.name)
        assert ours.keys() >= limit.keys() > set()
        assert all(value > 0 for value in ours.values())


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    measure_storage([Work.RECOVERY, Work.COMPACTION], tmp_path, 1, TINY)
    assert list(tmp_path.iterdir()) == []


def test_ratios_are_ours_to_the_limit(tmp_path: Path) -> None:
    results = measure_storage([Work.INDEXES], tmp_path, 1, TINY)
    (lines,) = document(results, OURS.name)["medians"].values()
    (unit,) = lines["limit"]
    assert lines["logquake / limit"] == {unit: lines["logquake"][unit] / lines["limit"][unit]}
