"""Arrow arrays of pieces of one buffer, each copied once, by Arrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from logquake.pipeline.source.decoding.fields import Slices


def binary_array(payload: pa.Buffer, slices: Slices) -> pa.Array:
    """The pieces ascend and do not overlap.

    To Arrow they are every second value of an array, whose others are what lies between them: so no
    bytes are copied before those that are asked for are taken out of it.
    """
    count = len(slices.sizes)
    if not count:
        return pa.array([], pa.binary())
    bounds = np.empty(2 * count, np.int32)
    bounds[0::2] = slices.starts
    bounds[1::2] = slices.ends
    pieces = pa.Array.from_buffers(
        pa.binary(), 2 * count - 1, [None, pa.py_buffer(bounds), payload]
    )
    taken = pieces.take(pa.array(np.arange(0, 2 * count, 2)))
    are_null = slices.sizes < 0
    if not are_null.any():
        return taken
    _, offsets, data = taken.buffers()
    return pa.Array.from_buffers(pa.binary(), count, [valid_bits(~are_null), offsets, data])


def valid_bits(are_valid: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(are_valid, bitorder="little"))
