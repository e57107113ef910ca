"""Rows of one partition, encoded as batches have room for them (`Run`): records of magic 2, without
headers.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from logquake.client.producer.runs import Piece, Room
from logquake.pipeline.sink.encoding.cells import Cells
from logquake.pipeline.sink.encoding.numbers import Numbers, joined, sizes_of
from logquake.wire.records import HEADER_BYTES

_NO_ATTRIBUTES = 0
_NO_HEADERS = b"\0"
_OTHER_BYTES = 2  # of attributes, and the count of headers
_LARGEST_NUMBERS_BYTES = 21  # of size, attributes, and both deltas


def bounds_of(keys: Cells, values: Cells) -> Numbers:
    """What a batch of each row alone weighs at most, as `size_bound` has it."""
    content = keys.encoded_sizes + values.encoded_sizes
    return HEADER_BYTES + _LARGEST_NUMBERS_BYTES + len(_NO_HEADERS) + content


class ColumnRun:
    def __init__(self, keys: Cells, values: Cells, times_ms: Numbers) -> None:
        self._keys = keys
        self._values = values
        self._times_ms = times_ms
        self._bounds = bounds_of(keys, values)
        self._sizes = keys.encoded_sizes + values.encoded_sizes + _OTHER_BYTES
        self._ends = np.cumsum(self._sizes)
        self._taken = 0

    @property
    def left(self) -> int:
        return len(self._times_ms) - self._taken

    @property
    def next_bytes(self) -> int:
        return int(self._bounds[self._taken])

    def take(self, room: Room) -> Piece:
        first = self._taken
        end = first + self._at_most(room)
        times_ms = self._times_ms[first:end]
        base_ms = int(times_ms[0]) if room.base_timestamp_ms is None else room.base_timestamp_ms
        deltas = times_ms - base_ms
        places = np.arange(room.next_index, room.next_index + end - first)
        bodies = self._sizes[first:end] + sizes_of(deltas) + sizes_of(places)
        count = _fitting(bodies + sizes_of(bodies), room)
        if not count:
            return Piece(b"", 0)
        self._taken = end = first + count
        encoded = self._encode(first, end, [bodies[:count], deltas[:count], places[:count]])
        return Piece(encoded, count, int(times_ms[0]), int(times_ms[:count].max()))

    def _at_most(self, room: Room) -> int:
        """So many are worth a look, one at least: by what they need whatever their places are."""
        left = self._ends[self._taken :]
        before = left[0] - self._sizes[self._taken]
        limit_bytes = before + (room.limit_bytes + 1) / room.ratio - room.plain_bytes
        return min(int(np.searchsorted(left, limit_bytes, "right")) + 1, len(left))

    def _encode(self, first: int, end: int, numbers: list[Numbers]) -> memoryview:
        bodies, deltas, places = numbers
        keys, values = self._keys.part(first, end), self._values.part(first, end)
        attributes = np.full(end - first, _NO_ATTRIBUTES, np.int64)
        records = pc.binary_join_element_wise(
            joined([bodies, attributes, deltas, places, keys.sizes]),
            keys.content,
            joined([values.sizes]),
            values.content,
            pa.scalar(_NO_HEADERS, pa.binary()),
            pa.scalar(b"", pa.binary()),  # between them
        )
        return memoryview(records.buffers()[2])[: Cells(records, None).bounds[-1]]


def _fitting(sizes: Numbers, room: Room) -> int:
    before = room.plain_bytes + np.cumsum(sizes) - sizes
    fit = (before * room.ratio).astype(np.int64) + sizes <= room.limit_bytes
    count = len(sizes) if fit.all() else int(fit.argmin())
    return count or int(room.next_index == 0)
