"""Rows summed up, to be told from others when a task runs again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import pytest

from logquake.pipeline.sink.marks import ExactlyOnceError, Summary, Task, check_same
from logquake.pipeline.sink.tally import Tally

pa = pytest.importorskip("pyarrow", reason="the extra logquake[spark] is not installed")

TASK = Task("query", epoch=7, partition=2)

Pair = tuple[bytes | None, bytes | None]


def summed_up(*rows: Pair) -> Summary:
    tally = Tally()
    for _ in tally.over(batch(rows[at : at + 2]) for at in range(0, len(rows), 2)):
        pass
    return tally.summary


def batch(rows: Sequence[Pair]) -> Any:
    columns = [pa.array(column, pa.binary()) for column in zip(*rows, strict=True)]
    return pa.RecordBatch.from_arrays(columns, ["key", "value"])


def test_rows_may_come_in_another_order_and_must_not_be_others() -> None:
    first = summed_up((b"k", b"v"), (None, b"w"), (b"k", None))
    check_same(TASK, first, summed_up((None, b"w"), (b"k", None), (b"k", b"v")))
    for others, why in (
        ([(b"k", b"v")], "query-2: epoch 7 has 3 rows written, and 1 now"),
        ([(b"k", b"v"), (None, b"w"), (b"k", b"x")], "3 rows written, and 3 other now"),
        ([], "and 0 now"),
    ):
        with pytest.raises(ExactlyOnceError, match=why):
            check_same(TASK, first, summed_up(*others))


def test_a_checksum_is_the_sum_of_those_of_keys_and_values() -> None:
    """As marks have it that were written before."""
    rows: list[Pair] = [(b"k", b"v"), (None, b"w"), (b"l", None)]
    sums = [zlib.crc32(value or b"", zlib.crc32(key or b"")) for key, value in rows]
    assert summed_up(*rows) == Summary(3, sum(sums))


def test_text_without_a_key_is_summed_up_as_its_bytes() -> None:
    tally = Tally()
    list(tally.over([pa.RecordBatch.from_arrays([pa.array(["\u00e9"])], ["value"])]))
    assert tally.summary == summed_up((None, "\u00e9".encode()))
