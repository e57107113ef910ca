"""Entries out of records, as Kafka's MemoryRecordsBuilder writes magic 0 and 1."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable

from logquake.wire.compression import Codec, compress_for_magic
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.legacy.entry import CHECKED_POSITION, LOG_APPEND_TIME_BIT, LOG_OVERHEAD
from logquake.wire.records.record import Record
from logquake.wire.sentinels import NO_TIMESTAMP

_CHECKED = (struct.Struct(">BB"), struct.Struct(">BBq"))  # magic, attributes, in magic 1 the time
_LENGTH = struct.Struct(">i")
_PLACE = struct.Struct(">qiI")  # offset, size, CRC
_NULL = _LENGTH.pack(-1)
_OWN_BYTES = CHECKED_POSITION - LOG_OVERHEAD  # the CRC


def encode_message_set(
    records: Iterable[Record],
    magic: int,
    *,
    codec: Codec = Codec.NONE,
    append_time_ms: int | None = None,
    limit_bytes: int | None = None,
) -> bytes:
    """Entries of magic 0 or 1: one a record, or with a codec one wrapper around them all.

    The records' offsets are absolute and ascend; their headers are lost. Without records there are
    no bytes. `append_time_ms` is the time of LogAppendTime, which then is every record's; magic 0
    has no times. Raises ValueError for zstd, which is newer, RecordError MESSAGE_TOO_LARGE when
    the entries have more than `limit_bytes` before they are compressed.
    """
    if codec is Codec.ZSTD:
        raise ValueError(f"zstd in magic {magic}")
    entries = _Entries(magic, append_time_ms, relative=magic > 0 and codec is not Codec.NONE)
    for record in records:
        entries.add(record)
        if limit_bytes is not None and len(entries.encoded) > limit_bytes:
            raise RecordError(
                ErrorCode.MESSAGE_TOO_LARGE, f"more than {limit_bytes} bytes as magic {magic}"
            )
    if codec is Codec.NONE or not entries.encoded:
        return bytes(entries.encoded)
    return _encode(
        entries.last_offset,
        magic,
        _attributes(magic, codec, append_time_ms),
        entries.max_timestamp if append_time_ms is None else append_time_ms,
        None,
        compress_for_magic(magic, codec, entries.encoded),
    )


class _Entries:
    """Uncompressed entries, and what a wrapper around them says of them."""

    def __init__(self, magic: int, append_time_ms: int | None, *, relative: bool) -> None:
        self._magic = magic
        self._append_time_ms = append_time_ms
        self._attributes = _attributes(magic, Codec.NONE, append_time_ms)
        self._base_offset = None if relative else 0
        self.encoded = bytearray()
        self.last_offset = 0
        self.max_timestamp = NO_TIMESTAMP

    def add(self, record: Record) -> None:
        offset, timestamp_ms, key, value, _ = record
        if self._base_offset is None:
            self._base_offset = offset
        if timestamp_ms > self.max_timestamp:
            self.max_timestamp = timestamp_ms
        written_ms = timestamp_ms if self._append_time_ms is None else self._append_time_ms
        self.encoded += _encode(
            offset - self._base_offset, self._magic, self._attributes, written_ms, key, value
        )
        self.last_offset = offset


def _attributes(magic: int, codec: Codec, append_time_ms: int | None) -> int:
    return codec | (LOG_APPEND_TIME_BIT if magic and append_time_ms is not None else 0)


def _encode(
    offset: int,
    magic: int,
    attributes: int,
    timestamp_ms: int,
    key: bytes | None,
    value: bytes | None,
) -> bytes:
    head = _CHECKED[magic]
    fields = (magic, attributes, timestamp_ms) if magic else (magic, attributes)
    message = head.pack(*fields) + _sized(key) + _sized(value)
    return _PLACE.pack(offset, _OWN_BYTES + len(message), zlib.crc32(message)) + message


def _sized(data: bytes | None) -> bytes:
    return _NULL if data is None else _LENGTH.pack(len(data)) + data
