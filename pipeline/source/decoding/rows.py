"""Stored batches in, Arrow batches out: the rows of one range of one partition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from logquake.client.consumer.fetch.batches import StoredBatch
from logquake.pipeline.columns import arrow_type
from logquake.pipeline.source.decoding.fields import UnusualError
from logquake.pipeline.source.decoding.group import UNUSUAL, Group, Payload
from logquake.pipeline.source.decoding.headers import HEADERS_TYPE
from logquake.pipeline.source.decoding.one_by_one import column_of
from logquake.pipeline.source.planning import OffsetRange
from logquake.pipeline.source.record_columns import COLUMNS, HEADERS
from logquake.wire.records import iterate_records
from logquake.wire.records.walk import plain_records

# So many rows, or so many bytes, are worth a turn: what a turn costs besides is paid once.
_FULL_ROWS = 32_768
_FULL_BYTES = 8 * 1024 * 1024


class _Opened(NamedTuple):
    """``plain`` are its records, decompressed; None of a message set."""

    stored: StoredBatch
    plain: bytes | memoryview | None


class Rows:
    """Those that were asked for, before the range's end, in order; of some columns."""

    def __init__(
        self, wanted: OffsetRange, names: Sequence[str], max_decompressed_bytes: int
    ) -> None:
        self._wanted = wanted
        self._names = names
        self._limit_bytes = max_decompressed_bytes
        self._of_all = {
            name: pa.scalar(value, type_of(name))
            for name, value in (("topic", wanted.topic), ("partition", wanted.partition))
        }
        self._stored: list[StoredBatch] = []
        self._rows = 0
        self._bytes = 0

    @property
    def is_full(self) -> bool:
        return self._rows >= _FULL_ROWS or self._bytes >= _FULL_BYTES

    def add(self, batch: StoredBatch) -> None:
        """Its bytes have to stay as they are until they are taken."""
        self._stored.append(batch)
        self._rows += batch.header.record_count
        self._bytes += batch.header.size

    def take(self) -> Iterator[pa.RecordBatch]:
        """What was added since the last time. Raises RecordError."""
        stored, self._stored = self._stored, []
        self._rows = self._bytes = 0
        for some in self._opened(stored):
            for rows in self._decoded(some):
                if rows.num_rows:
                    yield rows

    def _opened(self, stored: Sequence[StoredBatch]) -> Iterator[list[_Opened]]:
        """So many at a time as are worth a turn now: a batch may be a thousandth of its records."""
        some: list[_Opened] = []
        size = 0
        for batch in stored:
            plain = self._plain(batch)
            some.append(_Opened(batch, plain))
            size += len(plain or ())
            if size >= _FULL_BYTES:
                yield some
                some, size = [], 0
        if some:
            yield some

    def _plain(self, batch: StoredBatch) -> bytes | memoryview | None:
        if batch.header.is_legacy:
            return None
        return plain_records(batch.view, batch.position, batch.header, self._limit_bytes)

    def _decoded(self, opened: Sequence[_Opened]) -> Iterator[pa.RecordBatch]:
        try:
            together = self._together(opened)
        except UNUSUAL:
            yield from map(self._alone, opened)
        else:
            yield together

    def _together(self, opened: Sequence[_Opened]) -> pa.RecordBatch:
        """Raises what UNUSUAL lists, and RecordError."""
        group = Group([_payload(batch) for batch in opened])
        rows = self._batch(len(group), lambda name: _ARRAYS[name](group))
        wanted = group.asked_for(self._wanted.end)
        return rows if wanted is None else rows.filter(pa.array(wanted))

    def _alone(self, batch: _Opened) -> pa.RecordBatch:
        try:
            return self._together([batch])
        except UNUSUAL:
            return self._one_by_one(batch.stored)

    def _one_by_one(self, batch: StoredBatch) -> pa.RecordBatch:
        header, view, position, first_offset, _ = batch
        records = [
            record
            for record in iterate_records(view, position, header, self._limit_bytes)
            if first_offset <= record.offset < self._wanted.end
        ]

        def column(name: str) -> pa.Array:
            values = column_of(name, records, timestamp_type=header.timestamp_type)
            return pa.array(values, type_of(name))

        return self._batch(len(records), column)

    def _batch(self, count: int, column: Callable[[str], pa.Array]) -> pa.RecordBatch:
        arrays = [
            pa.repeat(self._of_all[name], count) if name in self._of_all else column(name)
            for name in self._names
        ]
        return pa.RecordBatch.from_arrays(arrays, names=list(self._names))


def _payload(batch: _Opened) -> Payload:
    """Raises UnusualError for a message set."""
    if batch.plain is None:
        raise UnusualError
    return Payload(batch.stored.header, batch.stored.first_offset, batch.plain)


def type_of(name: str) -> pa.DataType:
    return HEADERS_TYPE if name == HEADERS else arrow_type(COLUMNS[name])


_ARRAYS: dict[str, Callable[[Group], pa.Array]] = {
    "key": lambda group: group.keys,
    "value": lambda group: group.values,
    "offset": lambda group: pa.array(group.offsets),
    "timestamp": lambda group: pa.array(group.times_us).cast(type_of("timestamp")),
    "timestampType": lambda group: pa.array(group.times_are_of_log, pa.int32()),
    HEADERS: lambda group: group.headers,
}
