"""Sums up the rows of a task, as its mark tells them."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from logquake.pipeline.sink.marks import Summary

if TYPE_CHECKING:
    import pyarrow as pa

_SUM_MASK = (1 << 64) - 1


class Tally:
    """Of those that pass."""

    def __init__(self) -> None:
        self._rows = 0
        self._checksum = 0

    def over(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self._rows += batch.num_rows
            keys = map(zlib.crc32, _content(batch, "key"))
            self._checksum += sum(map(zlib.crc32, _content(batch, "value"), keys))
            yield batch

    @property
    def summary(self) -> Summary:
        return Summary(self._rows, self._checksum & _SUM_MASK)


def _content(batch: pa.RecordBatch, name: str) -> Iterable[bytes]:
    """What is null counts as empty."""
    import pyarrow as pa

    if name not in batch.schema.names:
        return [b""] * batch.num_rows
    content: Iterable[bytes] = (
        batch.column(name).cast(pa.binary()).fill_null(b"").to_numpy(zero_copy_only=False)
    )
    return content
