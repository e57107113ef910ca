"""Rows of one topic, and the partitions that they go to (`Rows`)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from logquake.pipeline.sink.encoding.cells import Cells
from logquake.pipeline.sink.encoding.hashing import partitions_of
from logquake.pipeline.sink.encoding.numbers import Numbers
from logquake.pipeline.sink.encoding.run import ColumnRun, largest_of
from logquake.wire.sentinels import NO_TIMESTAMP

ANY_PARTITION = -1


class ColumnRows:
    """Where they are sent there is one at least. ANY_PARTITION and NO_TIMESTAMP say: none.

    ``contents`` are theirs as `contents_of` has them.
    """

    def __init__(
        self, keys: Cells, contents: pa.Array, partitions: Numbers, times_ms: Numbers
    ) -> None:
        self._keys = keys
        self._contents = contents
        self._partitions = partitions
        self._times_ms = times_ms

    def __len__(self) -> int:
        return len(self._times_ms)

    def take(self, places: Numbers) -> ColumnRows:
        return ColumnRows(
            self._keys.take(places),
            self._contents.take(pa.array(places)),
            self._partitions[places],
            self._times_ms[places],
        )

    @property
    def largest_bytes(self) -> int:
        return largest_of(self._contents)

    @property
    def largest_partition(self) -> int | None:
        return _or_any(self._partitions.max())

    def by_partition(
        self, partition_count: int | None, now_ms: int
    ) -> list[tuple[int | None, ColumnRun]]:
        """Those of each in their order."""
        times_ms = np.where(self._times_ms == NO_TIMESTAMP, now_ms, self._times_ms)
        partitions = self._chosen(partition_count)
        if (partitions == partitions[0]).all():
            return [(_or_any(partitions[0]), ColumnRun(self._contents, times_ms))]
        order = np.argsort(partitions, kind="stable")
        contents, times_ms = self._contents.take(pa.array(order)), times_ms[order]
        those, firsts, counts = np.unique(partitions[order], return_index=True, return_counts=True)
        return [
            (
                _or_any(partition),
                ColumnRun(contents.slice(first, count), times_ms[first : first + count]),
            )
            for partition, first, count in zip(those, firsts, counts, strict=True)
        ]

    def _chosen(self, partition_count: int | None) -> Numbers:
        by_key = (self._partitions == ANY_PARTITION) & ~self._keys.are_null
        if partition_count is None or not by_key.any():
            return self._partitions
        return np.where(by_key, partitions_of(self._keys, partition_count), self._partitions)


def _or_any(partition: np.int64) -> int | None:
    return None if partition == ANY_PARTITION else int(partition)
