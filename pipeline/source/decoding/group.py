"""Some stored batches of magic 2, decoded together: their records one behind the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from logquake.pipeline.columns import LARGEST_MS, US_PER_MS
from logquake.pipeline.source.decoding.fields import (
    PADDING_BYTES,
    Fields,
    Numbers,
    UnusualError,
    ends_of,
)
from logquake.pipeline.source.decoding.headers import headers_array
from logquake.pipeline.source.decoding.slices import binary_array
from logquake.wire.records import BatchHeader


class Payload(NamedTuple):
    """A stored batch of magic 2; ``plain`` are its records, decompressed.

    Those before ``first_offset`` were not asked for.
    """

    header: BatchHeader
    first_offset: int
    plain: bytes | memoryview


class Group:
    """Its properties raise what UNUSUAL lists."""

    def __init__(self, payloads: Sequence[Payload]) -> None:
        """Raises UnusualError."""
        self._headers = [payload.header for payload in payloads]
        self._firsts = [payload.first_offset for payload in payloads]
        self._bytes = b"".join([*(payload.plain for payload in payloads), bytes(PADDING_BYTES)])
        self._numbers = np.frombuffer(self._bytes, np.uint8)
        self._buffer = pa.py_buffer(self._bytes)
        self._counts = np.array([header.record_count for header in self._headers], np.int64)
        self._fields = self._found([len(payload.plain) for payload in payloads])

    def __len__(self) -> int:
        return int(self._counts.sum())

    def asked_for(self, end: int) -> NDArray[np.bool_] | None:
        """Of which records; the last has an offset before ``end``. None for all."""
        if all(
            first <= header.base_offset and header.next_offset <= end
            for header, first in zip(self._headers, self._firsts, strict=True)
        ):
            return None
        return (np.repeat(self._firsts, self._counts) <= self.offsets) & (self.offsets < end)

    @cached_property
    def offsets(self) -> Numbers:
        return self._of_all(lambda header: header.base_offset) + self._fields.offset_deltas

    @property
    def times_us(self) -> Numbers:
        deltas = self._fields.timestamp_deltas
        if any(header.is_log_append_time for header in self._headers):
            deltas = np.where(self.times_are_of_log, 0, deltas)
        times_ms = self._of_all(_time_of_batch) + deltas
        if ((times_ms > LARGEST_MS) | (times_ms < -LARGEST_MS)).any():
            raise UnusualError
        return times_ms * US_PER_MS

    @property
    def times_are_of_log(self) -> Numbers:
        return self._of_all(lambda header: int(header.is_log_append_time))

    @property
    def keys(self) -> pa.Array:
        return binary_array(self._buffer, self._fields.keys)

    @property
    def values(self) -> pa.Array:
        return binary_array(self._buffer, self._checked.values)

    @property
    def headers(self) -> pa.Array:
        return headers_array(self._buffer, self._numbers, self._checked)

    @property
    def _checked(self) -> Fields:
        """Once all of a record is looked at, it has to be nothing else."""
        _ = self._fields.header_counts
        return self._fields

    def _found(self, sizes: Sequence[int]) -> Fields:
        ends: list[int] = []
        at = 0
        for header, size in zip(self._headers, sizes, strict=True):
            ends += ends_of(self._bytes, at, at + size, header.record_count)
            at += size
        all_ends = np.array(ends, np.int64)
        starts = np.zeros_like(all_ends)
        starts[1:] = all_ends[:-1]
        return Fields(self._numbers, starts, all_ends)

    def _of_all(self, number: Callable[[BatchHeader], int]) -> Numbers:
        """Of the batch that each record is of."""
        of_batches = np.array([number(header) for header in self._headers], np.int64)
        return np.repeat(of_batches, self._counts)


UNUSUAL = (UnusualError, IndexError, pa.ArrowInvalid)


def _time_of_batch(header: BatchHeader) -> int:
    return header.max_timestamp if header.is_log_append_time else header.base_timestamp
