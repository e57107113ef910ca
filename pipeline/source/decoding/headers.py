"""The column of record headers: a list of key and value for each record, null where it has none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from logquake.pipeline.source.decoding.fields import (
    Bytes,
    Fields,
    Numbers,
    Slices,
    UnusualError,
    read_slices,
)
from logquake.pipeline.source.decoding.slices import binary_array, valid_bits

HEADER_TYPE = pa.struct([("key", pa.string()), ("value", pa.binary())])
HEADERS_TYPE = pa.list_(HEADER_TYPE)

_MOST_HEADERS = 64  # of one record: what has more is read by itself


def headers_array(payload: pa.Buffer, numbers: Bytes, fields: Fields) -> pa.Array:
    """Raises UnusualError, IndexError, and ArrowInvalid for keys that are no UTF-8."""
    counts = fields.header_counts
    keys, values = _in_order(numbers, counts, fields.header_starts, fields.ends)
    structs = pa.StructArray.from_arrays(
        [binary_array(payload, keys).cast(pa.string()), binary_array(payload, values)],
        fields=list(HEADER_TYPE),
    )
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return pa.Array.from_buffers(
        HEADERS_TYPE,
        len(counts),
        [valid_bits(counts > 0), pa.py_buffer(offsets)],
        children=[structs],
    )


def _in_order(
    payload: Bytes, counts: Numbers, starts: Numbers, ends: Numbers
) -> tuple[Slices, Slices]:
    """Keys and values of all headers: found for all records at once, the first, the second..."""
    if counts.size and counts.max() > _MOST_HEADERS:
        raise UnusualError
    first = np.cumsum(counts) - counts  # the place of each record's first among all
    places = [np.empty(int(counts.sum()), np.int64) for _ in range(4)]
    at = starts
    for turn in range(int(counts.max(initial=0))):
        having = np.flatnonzero(counts > turn)
        keys = read_slices(payload, at[having])
        values = read_slices(payload, keys.ends)
        for all_of, of_turn in zip(places, (*keys, *values), strict=True):
            all_of[first[having] + turn] = of_turn
        at = at.copy()
        at[having] = values.ends
    if (at != ends).any() or (places[1] < 0).any():  # a key is never null
        raise UnusualError
    return Slices(places[0], places[1]), Slices(places[2], places[3])
