"""How far a mirror is, by what its query tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from logquake.pipeline.jobs.mirror import follow


class Query:
    """As Spark's: each time it is asked it tells of its last batches, and at last that it ended."""

    def __init__(self, *told: dict[int, int]) -> None:
        self._left: Iterator[dict[int, int]] = iter(told)
        self._count = len(told)
        self._told: dict[int, int] = {}

    def awaitTermination(self, timeout_s: int) -> bool:  # noqa: ARG002, N802  # Spark's
        self._told = next(self._left)
        self._count -= 1
        return self._count == 0

    @property
    def recentProgress(self) -> list[dict[str, Any]]:  # noqa: N802
        return [{"batchId": batch, "numInputRows": rows} for batch, rows in self._told.items()]


def test_rows_are_told_as_they_come_though_the_batch_was_told_of_without_any(
    capsys: pytest.CaptureFixture[str],
) -> None:
    query: Any = Query({0: 5}, {0: 5, 1: 0}, {0: 5, 1: 0}, {1: 7})
    assert follow(query) == 12
    assert capsys.readouterr().err.splitlines() == ["mirror: 5 rows", "mirror: 12 rows"]
