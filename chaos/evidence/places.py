"""Where things lie in columns: of a partition, of the last that came before."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from logquake.chaos.evidence.clients import NONE, Column, Numbers


def bounds_of(partitions: Numbers, count: int) -> Column:
    """Where each partition's begin, of what lies by partition; and where the last one's end."""
    return np.searchsorted(partitions, np.arange(count + 1, dtype=partitions.dtype))


def columns_of(rows: Sequence[tuple[int, ...]], width: int) -> list[Column]:
    return list(np.array(rows, np.int64).reshape(-1, width).T)


def last_before(marks: Sequence[Column], asked: Sequence[Column | Numbers]) -> Column:
    """Of each that is asked for, the place of the last mark at or before it; NONE without one.

    Columns: what they are ordered by, and what must be the same.
    """
    size = len(marks[0])
    if not size:
        return np.full(len(asked[0]), NONE, np.int64)
    # Marks come first: the order is stable, so that they precede what is asked for at their place.
    order = np.lexsort([np.concatenate(both) for both in zip(marks, asked, strict=True)])
    latest = np.maximum.accumulate(np.where(order < size, np.arange(len(order)), NONE))
    found = np.empty(len(order), np.int64)
    found[order] = np.where(latest >= 0, order[latest], NONE)
    places = found[size:]
    is_same = places >= 0
    for mark, one in zip(marks[1:], asked[1:], strict=True):
        is_same &= mark[places] == one
    return np.where(is_same, places, NONE)
