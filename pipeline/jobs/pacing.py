"""Rows no faster than so many a second: a step of a query, in each of its tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

# So often a second, at most, a task hands rows on.
_HANDS_A_SECOND = 10

Step = Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]


def paced(
    rows_a_second: float,
    now_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Step:
    """What a task's rows pass through. They do not catch up: a slow second is no reason for a
    fast one.
    """

    def step(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        at_once = max(1, int(rows_a_second / _HANDS_A_SECOND))
        next_s = now_s()
        for batch in batches:
            for start in range(0, batch.num_rows, at_once):
                piece = batch.slice(start, at_once)
                wait_s = next_s - now_s()
                if wait_s > 0:
                    sleep(wait_s)
                next_s = max(next_s, now_s()) + piece.num_rows / rows_a_second
                yield piece

    return step
