"""Where the fields of records of magic 2 lie, and numbers (Kafka's DefaultRecord.readFrom)."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]

PADDING_BYTES = 16  # behind the last record: a number that has no end is read into it, not beyond
_INT_BYTES = 5
_LONG_BYTES = 9  # a tenth would be the sign
_INT_BITS = 32
_SMALLEST_RECORD_BYTES = 7


class UnusualError(Exception):
    """Not as nearly all records are: they have to be read one by one."""


class Slices(NamedTuple):
    """Of each record a piece of the bytes; a size below 0 is null."""

    starts: Numbers
    sizes: Numbers

    @property
    def lengths(self) -> Numbers:
        return np.maximum(self.sizes, 0)

    @property
    def ends(self) -> Numbers:
        return self.starts + self.lengths


class _Read(NamedTuple):
    values: Numbers
    behind: Numbers


def ends_of(payload: bytes, start: int, end: int, count: int) -> list[int]:
    """Where each of so many records ends, the first beginning at ``start``, the last ending at
    ``end``. Raises UnusualError.

    It runs in Python for every record, which is why it does nothing else.
    """
    if not 0 <= count * _SMALLEST_RECORD_BYTES <= end - start:
        raise UnusualError
    ends: list[int] = []
    add = ends.append
    at = start
    try:
        for _ in range(count):
            size = payload[at]
            at += 1
            if size >= 0x80:
                byte = payload[at]
                at += 1
                size = size & 0x7F | byte << 7
                if byte >= 0x80:
                    size, at = _go_on(payload, size & 0x3FFF, at)
            at += size >> 1
            add(at)
    except IndexError as error:
        raise UnusualError from error
    if at != end:
        raise UnusualError
    return ends


def _go_on(payload: bytes, size: int, at: int) -> tuple[int, int]:
    """A size of three bytes or more, and where it ends."""
    shift = 14
    while (byte := payload[at]) >= 0x80:
        size |= (byte & 0x7F) << shift
        shift += 7
        at += 1
    return size | byte << shift, at + 1


class Fields:
    """Of records that lie one behind the other, but for gaps; each field is found when it is asked
    for, by those before it.

    All raise UnusualError, and IndexError for places outside of the bytes.
    """

    def __init__(self, payload: Bytes, starts: Numbers, ends: Numbers) -> None:
        self._payload = payload
        self._starts = starts
        self._ends = ends

    @property
    def timestamp_deltas(self) -> Numbers:
        return self._timestamps.values

    @property
    def offset_deltas(self) -> Numbers:
        return self._offsets.values

    @cached_property
    def keys(self) -> Slices:
        return self._slices(self._offsets.behind)

    @cached_property
    def values(self) -> Slices:
        return self._slices(self.keys.ends)

    @cached_property
    def header_counts(self) -> Numbers:
        """They are none, or as many as end where the record does is not known."""
        counts, behind = self._header_counts
        if ((counts == 0) & (behind != self._ends)).any() or (counts < 0).any():
            raise UnusualError
        return counts

    @property
    def header_starts(self) -> Numbers:
        return self._header_counts.behind

    @property
    def ends(self) -> Numbers:
        return self._ends

    @cached_property
    def _timestamps(self) -> _Read:
        sizes = read_numbers(self._payload, self._starts)
        if (sizes.behind + sizes.values != self._ends).any():  # one below 0, as ends_of takes it
            raise UnusualError
        return read_numbers(self._payload, sizes.behind + 1, _LONG_BYTES)  # behind the attributes

    @cached_property
    def _offsets(self) -> _Read:
        return read_numbers(self._payload, self._timestamps.behind)

    @cached_property
    def _header_counts(self) -> _Read:
        return read_numbers(self._payload, self.values.ends)

    def _slices(self, at: Numbers) -> Slices:
        slices = read_slices(self._payload, at)
        if (slices.ends > self._ends).any():
            raise UnusualError
        return slices


def read_slices(payload: Bytes, at: Numbers) -> Slices:
    """Bytes behind their size."""
    sizes, starts = read_numbers(payload, at)
    return Slices(starts, sizes)


def read_numbers(payload: Bytes, at: Numbers, most_bytes: int = _INT_BYTES) -> _Read:
    """Zigzag varints at those places. Raises UnusualError for what Java would cut off."""
    byte = payload[at]
    raw = (byte & 0x7F).astype(np.int64)
    behind = at + 1
    longer = np.flatnonzero(byte & 0x80)
    shift = 7
    while longer.size:
        if shift == 7 * most_bytes:
            raise UnusualError
        byte = payload[behind[longer]]
        raw[longer] |= (byte & 0x7F).astype(np.int64) << shift
        behind[longer] += 1
        longer = longer[byte >= 0x80]
        shift += 7
    if most_bytes == _INT_BYTES and shift > _INT_BITS and (raw >> _INT_BITS).any():
        raise UnusualError
    return _Read((raw >> 1) ^ -(raw & 1), behind)
