"""Records out of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from logquake.wire.records.header import BatchHeader
from logquake.wire.records.walk import walk_records

NO_TIMESTAMP = -1


class Record(NamedTuple):
    """One record. The offset is absolute; headers are (key, value) in their order."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def iterate_records(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[Record]:
    """The records of one batch, in order, their keys and values copied out of the view.

    `limit_bytes` bounds the decompressed size. A record without a timestamp reads -1. The CRC is
    not checked here. Raises RecordError as walk_records does.
    """
    for record in walk_records(view, position, header, limit_bytes):
        yield Record(
            record.offset, record.timestamp, record.key, record.value, tuple(record.headers)
        )
