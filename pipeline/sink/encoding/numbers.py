"""Numbers as records of magic 2 have them (Kafka's ByteUtils.writeVarlong)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]

_BITS = 7
_MORE = 0x80


def sizes_of(numbers: Numbers) -> Numbers:
    """Of how many bytes each is."""
    sizes = np.ones(len(numbers), np.int64)
    left = _zigzag(numbers) >> np.uint64(_BITS)
    while left.any():
        sizes += left != 0
        left >>= np.uint64(_BITS)
    return sizes


def joined(fields: Sequence[Numbers]) -> pa.Array:
    """The numbers of each row, one field behind the other, as a column of bytes."""
    columns: list[NDArray[np.uint8]] = []
    are_there: list[NDArray[np.bool_]] = []
    for numbers in fields:
        left = _zigzag(numbers)
        is_there = np.ones(len(left), np.bool_)
        while is_there.any():
            rest = left >> np.uint64(_BITS)
            goes_on = rest != 0
            columns.append(
                (left & np.uint64(_MORE - 1)).astype(np.uint8) | goes_on * np.uint8(_MORE)
            )
            are_there.append(is_there)
            left, is_there = rest, goes_on
    written = np.stack(are_there, axis=1)
    return _binary(np.stack(columns, axis=1)[written], written.sum(axis=1))


def _zigzag(numbers: Numbers) -> NDArray[np.uint64]:
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _binary(content: NDArray[np.uint8], sizes: Numbers) -> pa.Array:
    bounds = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(sizes), buffers)
