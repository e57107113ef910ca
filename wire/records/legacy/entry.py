"""One entry of a message set (Kafka's LegacyRecord and AbstractLegacyRecordBatch)."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

from logquake.wire.records.layout import LENGTH, LENGTH_OVERHEAD
from logquake.wire.records.refusals import corrupt
from logquake.wire.sentinels import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
)

LOG_OVERHEAD = LENGTH_OVERHEAD  # offset and size, which the size does not count
CODEC_BITS = 0x07
LOG_APPEND_TIME_BIT = 0x08  # from magic 1 on

ENTRY = struct.Struct(">qiIBB")  # offset, size, CRC, magic, attributes
TIMESTAMP = struct.Struct(">q")
CRC_POSITION = 12
CHECKED_POSITION = 16  # where the checksummed bytes begin
_FIXED_BYTES = (ENTRY.size, ENTRY.size + TIMESTAMP.size)  # before the key, by magic
SMALLEST_MESSAGE = 14  # of magic 0: CRC, magic, attributes and two lengths
_NO_PRODUCER_FIELDS = (NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE)
_UNKNOWN_COUNT = -1


class Message(NamedTuple):
    """An entry taken apart; the offset as it is written, relative or not."""

    offset: int
    crc: int
    magic: int
    attributes: int
    timestamp_ms: int  # NO_TIMESTAMP in magic 0
    key: bytes | None
    value: bytes | None

    @property
    def is_compressed(self) -> bool:
        return bool(self.attributes & CODEC_BITS)


def header_fields(view: memoryview | bytes, position: int, room: int) -> tuple[int, ...]:
    """The entry at `position` in the fields of a BatchHeader; it fits into `room` bytes.

    Base and last offset are both the entry's offset, which for a wrapper is that of its last
    record: to know the first it would have to be decompressed. For the same reason the record
    count of a wrapper is -1. Raises RecordError CORRUPT_MESSAGE.
    """
    available = min(room, len(view) - position)
    if available < ENTRY.size:
        raise corrupt(f"{available} bytes are too few for a message")
    offset, size, crc, magic, attributes = ENTRY.unpack_from(view, position)
    smallest = SMALLEST_MESSAGE + magic * TIMESTAMP.size
    if not smallest <= size <= room - LOG_OVERHEAD:
        raise corrupt(f"message of {size} bytes where {room - LOG_OVERHEAD} are left")
    timestamp_ms = NO_TIMESTAMP
    kept = attributes & CODEC_BITS
    if magic:
        if available < _FIXED_BYTES[1]:
            raise corrupt(f"{available} bytes are too few for a message")
        (timestamp_ms,) = TIMESTAMP.unpack_from(view, position + ENTRY.size)
        kept = attributes & (CODEC_BITS | LOG_APPEND_TIME_BIT)
    count = _UNKNOWN_COUNT if attributes & CODEC_BITS else 1
    times = (timestamp_ms, timestamp_ms)
    return (offset, size, NO_LEADER_EPOCH, magic, crc, kept, 0, *times, *_NO_PRODUCER_FIELDS, count)


def computed_crc(view: memoryview, position: int, size: int) -> int:
    """The CRC-32 of the message at `position`, `size` as its entry says."""
    return zlib.crc32(view[position + CHECKED_POSITION : position + LOG_OVERHEAD + size])


def read_message(view: memoryview, position: int, size: int) -> Message:
    """The entry at `position`, which is within the view; key and value are copies.

    Bytes after the value are passed over, as Kafka does. Raises RecordError CORRUPT_MESSAGE.
    """
    end = position + LOG_OVERHEAD + size
    offset, _, crc, magic, attributes = ENTRY.unpack_from(view, position)
    at = position + ENTRY.size
    timestamp_ms = NO_TIMESTAMP
    if magic:
        if size < SMALLEST_MESSAGE + TIMESTAMP.size:
            raise corrupt(f"message of {size} bytes with magic {magic}")
        (timestamp_ms,) = TIMESTAMP.unpack_from(view, at)
        at += TIMESTAMP.size
    key, at = _read_bytes(view, at, end)
    value, _ = _read_bytes(view, at, end)
    return Message(offset, crc, magic, attributes, timestamp_ms, key, value)


def _read_bytes(view: memoryview, at: int, end: int) -> tuple[bytes | None, int]:
    start = at + LENGTH.size
    if start > end:
        raise corrupt("message ends before its value")
    (length,) = LENGTH.unpack_from(view, at)
    if length < 0:
        return None, start
    if length > end - start:
        raise corrupt(f"{length} bytes of key or value where {end - start} are left")
    return bytes(view[start : start + length]), start + length
