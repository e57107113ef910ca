"""Records out of a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from logquake.wire.records.header import BatchHeader
from logquake.wire.records.layout import MAGIC
from logquake.wire.records.legacy.nesting import iterate_messages
from logquake.wire.records.record import Record
from logquake.wire.records.walk import UnwalkableError, WalkedRecord, walk_exactly, walk_records

__all__ = ["Record", "iterate_records"]


def iterate_records(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[Record]:
    """The records of one batch of any magic, in order, keys and values copied out of the view.

    `limit_bytes` bounds the decompressed size. A record without a timestamp has NO_TIMESTAMP.
    The CRC is not checked here. Raises RecordError as walk_records and iterate_messages do.
    """
    if header.magic != MAGIC:
        for message in iterate_messages(view, position, header, limit_bytes):
            yield Record(message.offset, message.timestamp_ms, message.key, message.value)
        return
    walked = 0
    try:
        for record in walk_records(view, position, header, limit_bytes):
            yield _record(record)
            walked += 1
    except UnwalkableError:
        again = walk_exactly(view, position, header, limit_bytes)
        yield from map(_record, islice(again, walked, None))


def _record(walked: WalkedRecord) -> Record:
    return Record(walked.offset, walked.timestamp, walked.key, walked.value, tuple(walked.headers))
