"""Rows of one partition, encoded as batches have room for them (`Run`): records of magic 2, without
headers.

What a record holds is the same wherever it stands, and encoded before: here its size, and how far
its time and offset are from its batch's, are put in front.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from logquake.client.producer.runs import Piece, Room
from logquake.pipeline.sink.encoding.cells import Cells, bounds_in
from logquake.pipeline.sink.encoding.numbers import Numbers, joined, sizes_of
from logquake.wire.records import HEADER_BYTES

_NO_HEADERS = b"\0"
_NO_BYTES = pa.scalar(b"", pa.binary())
_ATTRIBUTES_BYTES = 1
_LARGEST_NUMBERS_BYTES = 21  # of size, attributes, and both distances


def contents_of(keys: Cells, values: Cells) -> pa.Array:
    """Of each row key, value and headers, with their sizes.

    Raises ArrowInvalid for more than Arrow has in one column.
    """
    return pc.binary_join_element_wise(
        joined([keys.sizes]),
        keys.content,
        joined([values.sizes]),
        values.content,
        pa.scalar(_NO_HEADERS, pa.binary()),
        _NO_BYTES,
    )


def largest_of(contents: pa.Array) -> int:
    """What a batch of one row alone weighs at most, as `size_bound` has it, of that of most."""
    return HEADER_BYTES + _LARGEST_NUMBERS_BYTES + int(np.diff(bounds_in(contents)).max())


class ColumnRun:
    def __init__(self, contents: pa.Array, times_ms: Numbers) -> None:
        self._contents = contents
        self._bounds = bounds_in(contents)
        self._times_ms = times_ms
        self._taken = 0

    @property
    def left(self) -> int:
        return len(self._times_ms) - self._taken

    @property
    def next_bytes(self) -> int:
        return largest_of(self._contents.slice(self._taken, 1))

    def take(self, room: Room) -> Piece:
        first = self._taken
        end = first + self._at_most(room)
        times_ms = self._times_ms[first:end]
        base_ms = int(times_ms[0]) if room.base_timestamp_ms is None else room.base_timestamp_ms
        deltas = times_ms - base_ms
        places = np.arange(room.next_index, room.next_index + end - first)
        bodies = np.diff(self._bounds[first : end + 1]) + _ATTRIBUTES_BYTES
        bodies = bodies + sizes_of(deltas) + sizes_of(places)
        count = _fitting(bodies + sizes_of(bodies), room)
        if not count:
            return Piece(b"", 0)
        self._taken += count
        attributes = np.zeros(count, np.int64)
        heads = joined([bodies[:count], attributes, deltas[:count], places[:count]])
        return Piece(
            _one_behind_the_other(heads, self._contents.slice(first, count)),
            count,
            int(times_ms[0]),
            int(times_ms[:count].max()),
        )

    def _at_most(self, room: Room) -> int:
        """So many are worth a look, one at least: by what they need whatever their places are."""
        begin = self._bounds[self._taken]
        limit_bytes = begin + (room.limit_bytes + 1) / room.ratio - room.plain_bytes
        fitting = int(np.searchsorted(self._bounds[self._taken + 1 :], limit_bytes, "right"))
        return min(fitting + 1, self.left)


def _fitting(sizes: Numbers, room: Room) -> int:
    before = room.plain_bytes + np.cumsum(sizes) - sizes
    fit = (before * room.ratio).astype(np.int64) + sizes <= room.limit_bytes
    count = len(sizes) if fit.all() else int(fit.argmin())
    return count or int(room.next_index == 0)


def _one_behind_the_other(heads: pa.Array, contents: pa.Array) -> memoryview:
    records = pc.binary_join_element_wise(heads, contents, _NO_BYTES)
    return memoryview(records.buffers()[2])[: bounds_in(records)[-1]]
