"""Numbers as records of magic 2 have them (Kafka's ByteUtils.writeVarlong)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]

_BITS = np.uint64(7)
_MORE = 0x80
_LOW = np.uint64(_MORE - 1)


class _Place(NamedTuple):
    """One byte of each number; ``is_there`` None: of all of them."""

    byte: NDArray[np.uint8]
    is_there: NDArray[np.bool_] | None


def sizes_of(numbers: Numbers) -> Numbers:
    """Of how many bytes each is."""
    sizes = np.ones(len(numbers), np.int64)
    left = _zigzag(numbers)
    while left.max(initial=0) >= _MORE:
        left >>= _BITS
        sizes += left != 0
    return sizes


def joined(fields: Sequence[Numbers]) -> pa.Array:
    """The numbers of each row, one field behind the other, as a column of bytes."""
    places = [place for numbers in fields for place in _places(numbers)]
    matrix = np.stack([place.byte for place in places], axis=1)
    if all(place.is_there is None for place in places):
        return _binary(matrix.ravel(), np.full(len(matrix), len(places)))
    everywhere = np.ones(len(matrix), np.bool_)
    are_there = [everywhere if place.is_there is None else place.is_there for place in places]
    written = np.stack(are_there, axis=1)
    return _binary(matrix[written], written.sum(axis=1))


def _places(numbers: Numbers) -> list[_Place]:
    left = _zigzag(numbers)
    places: list[_Place] = []
    is_there = None
    while left.max(initial=0) >= _MORE:
        rest = left >> _BITS
        goes_on = rest != 0
        byte = (left & _LOW).astype(np.uint8) | goes_on.view(np.uint8) << 7
        places.append(_Place(byte, is_there))
        left, is_there = rest, None if goes_on.all() else goes_on
    return [*places, _Place(left.astype(np.uint8), is_there)]


def _zigzag(numbers: Numbers) -> NDArray[np.uint64]:
    return ((numbers << 1) ^ (numbers >> 63)).view(np.uint64)


def _binary(content: NDArray[np.uint8], sizes: Numbers) -> pa.Array:
    bounds = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=bounds[1:])
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(sizes), buffers)
