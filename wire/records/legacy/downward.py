"""Batches of a log as an old consumer can read them: RecordsUtil.downConvert, LazyDownConversion.

Fetch 0 and 1 understand magic 0, Fetch 2 and 3 magic 0 and 1. A converted answer has the size of
what it was converted from: what has become longer is cut, and what has become shorter is filled up
with the beginning of a message that never ends, which consumers leave out as incomplete.
Control batches are left out, headers are lost, zstd cannot be converted. Records before the fetch
offset are left out where the batch was not compressed.

Otherwise than Kafka: where batches before the first convertible one were left out, Kafka sends
that one twice.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.header import BatchHeader, iterate_batches
from logquake.wire.records.layout import HEADER_BYTES
from logquake.wire.records.legacy.building import encode_message_set
from logquake.wire.records.legacy.entry import LOG_OVERHEAD
from logquake.wire.records.reading import Record, iterate_records

_CHUNK_BYTES = 128 * 1024  # LazyDownConversionRecordsSend.MAX_READ_SIZE
_FILLER = struct.Struct(">qi")

_Batch = tuple[int, BatchHeader]


def down_convert(
    view: memoryview, magic: int, first_offset: int, *, limit_bytes: int, max_bytes: int
) -> bytes:
    """What the consumer gets for these bytes of a log, which may end within a batch.

    At least one batch is converted if there is a convertible one. Past `max_bytes` of converted
    data the answer ends early, without filling. `limit_bytes` bounds a batch's decompressed size.
    Raises RecordError UNSUPPORTED_COMPRESSION_TYPE for a first batch in zstd, and what
    iterate_records and encode_message_set raise.
    """
    batches = list(iterate_batches(view))
    if not batches:
        return b""
    converter = _Converter(view, magic, first_offset, limit_bytes)
    skipped, first = converter.first_of(batches)
    if first is None:
        return _filling(LOG_OVERHEAD)
    wanted = max(len(view), len(first))
    parts, size = [first], len(first)
    for chunk in _chunks(batches[skipped + 1 :]):
        if size >= wanted:
            break
        if size >= max_bytes:
            return b"".join(parts)
        try:
            converted = b"".join(converter.convert(batch) for batch in chunk)
        except RecordError as error:
            if error.code is not ErrorCode.UNSUPPORTED_COMPRESSION_TYPE:
                raise
            break  # a fetch that begins there will be told
        parts.append(converted)
        size += len(converted)
    parts.append(_filling(wanted - size))
    return b"".join(parts)[:wanted]


def _chunks(batches: list[_Batch]) -> Iterator[list[_Batch]]:
    """Batches in pieces of at most a chunk's bytes, or of one batch."""
    chunk: list[_Batch] = []
    size = 0
    for batch in batches:
        if chunk and size + batch[1].size > _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(batch)
        size += batch[1].size
    if chunk:
        yield chunk


def _filling(size: int) -> bytes:
    """Beginnings of messages that end beyond the answer."""
    parts = []
    while size > 0:
        written = min(size, _CHUNK_BYTES)
        head = _FILLER.pack(-1, max(size + 1, HEADER_BYTES))
        parts.append(head[:written].ljust(written, b"\0"))
        size -= written
    return b"".join(parts)


class _Converter:
    def __init__(self, view: memoryview, magic: int, first_offset: int, limit_bytes: int) -> None:
        self._view = view
        self._magic = magic
        self._first_offset = first_offset
        self._limit_bytes = limit_bytes

    def first_of(self, batches: list[_Batch]) -> tuple[int, bytes | None]:
        """The index of the first batch of which something is left, and what it became."""
        for index, batch in enumerate(batches):
            converted = self.convert(batch)
            if converted:
                return index, converted
        return len(batches), None

    def convert(self, batch: _Batch) -> bytes:
        position, header = batch
        if header.is_control:
            return b""
        codec = header.codec
        if codec is Codec.ZSTD:
            raise RecordError(
                ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
                f"a batch in zstd cannot be converted to magic {self._magic}",
            )
        if header.magic <= self._magic:
            return bytes(self._view[position : position + header.size])
        return encode_message_set(
            self._records(position, header),
            self._magic,
            codec=codec,
            append_time_ms=header.max_timestamp if header.is_log_append_time else None,
            limit_bytes=self._limit_bytes,
        )

    def _records(self, position: int, header: BatchHeader) -> Iterator[Record]:
        records = iterate_records(self._view, position, header, self._limit_bytes)
        if header.is_compressed:
            return records
        return (record for record in records if record.offset >= self._first_offset)
