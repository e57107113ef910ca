"""aiokafka's compiled reader of records, handed only what it can bear.

It is eight times faster than any reader in Python. What it lacks is made up for here: it
decompresses without a bound, so it is given plain bytes; it reads the header without looking at
the buffer's length, so the header was read before; and on hostile bytes it raises what C code
happens to raise. Where it gives up, exact.py is to be asked: it refuses header keys that are not
UTF-8, which Kafka takes. It may read up to nine bytes past the end of the buffer before it notices:
a bytes object or a bytearray ends in a zero that stops it, a memory-mapped file does not; copy one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TypeAlias

from logquake.wire.compression import Codec, decompress
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.compiled import (
    CorruptRecordException,
    DefaultRecord,
    DefaultRecordBatch,
)
from logquake.wire.records.exact import ExactRecord, read_exactly
from logquake.wire.records.header import BatchHeader
from logquake.wire.records.layout import HEADER, HEADER_BYTES

HOSTILE = (
    CorruptRecordException,
    MemoryError,
    OverflowError,
    SystemError,
    ValueError,  # UnicodeDecodeError among them
)


WalkedRecord: TypeAlias = DefaultRecord | ExactRecord
Walk: TypeAlias = Callable[[memoryview, int, BatchHeader, int], Iterator[WalkedRecord]]


class UnwalkableError(RecordError):
    """The compiled reader gave up; walk_exactly knows whether Kafka would."""


def walk_records(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[WalkedRecord]:
    """Every record of the batch, compressed or not, in order.

    `limit_bytes` bounds the decompressed size. Raises UnwalkableError, and what decompress raises.
    """
    try:
        yield from walk_unguarded(view, position, header, limit_bytes)
    except HOSTILE as error:
        raise _unwalkable(error) from error


def walk_unguarded(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[WalkedRecord]:
    """As walk_records, without Python between the records: for who reads a list of them in one go,
    and is ready for what C code happens to raise, which is HOSTILE.
    """
    return chain(DefaultRecordBatch(_plain_batch(view, position, header, limit_bytes)))


def timestamps_in_place(records: Iterator[WalkedRecord], first: int, most: int) -> list[int]:
    """Of up to `most` records, those whose offsets are first, first + 1 and so on.

    Raises as the walk that the records are of. It runs for every record produced: a list
    comprehension that keeps no record, because a loop in Python, or a list of the records, which
    the garbage collector then looks through, costs two to four times as much.
    """
    try:
        return [
            record.timestamp
            for place, record in enumerate(islice(records, most), first)
            if record.offset == place
        ]
    except HOSTILE as error:
        raise _unwalkable(error) from error


def walk_exactly(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[WalkedRecord]:
    """As walk_records, slowly, and to Kafka's letter.

    Raises RecordError: INVALID_RECORD when the bytes are not exactly `header.record_count` records.
    """
    return read_exactly(bytes(plain_records(view, position, header, limit_bytes)), header)


def _unwalkable(error: Exception) -> UnwalkableError:
    return UnwalkableError(ErrorCode.INVALID_RECORD, f"unreadable records: {error}")


def plain_records(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> memoryview | bytes:
    """The records' bytes, decompressed if they are not plain. Raises as decompress does."""
    payload = view[position + HEADER_BYTES : position + header.size]
    codec = header.codec
    return payload if codec is Codec.NONE else decompress(codec, payload, limit_bytes)


def _plain_batch(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> memoryview | bytes:
    if header.codec is Codec.NONE:
        return view[position : position + header.size]
    plain = plain_records(view, position, header, limit_bytes)
    return HEADER.pack(*header._replace(attributes=header.attributes & ~0x07)) + plain
