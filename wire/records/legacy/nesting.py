"""The records of an entry: itself, or those compressed within it (AbstractLegacyRecordBatch)."""

from __future__ import annotations

from collections.abc import Iterator

from logquake.wire.compression import Codec, codec_of, decompress_for_magic
from logquake.wire.errors import RecordError
from logquake.wire.records.header import BatchHeader
from logquake.wire.records.layout import batch_bytes
from logquake.wire.records.legacy.entry import (
    ENTRY,
    LOG_APPEND_TIME_BIT,
    LOG_OVERHEAD,
    SMALLEST_MESSAGE,
    Message,
    computed_crc,
    read_message,
)
from logquake.wire.records.refusals import corrupt, invalid

_RELATIVE_OFFSETS_SINCE_MAGIC = 1
_LARGEST_MAGIC = 1
_LARGEST_OFFSET = 2**63 - 1


def iterate_messages(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> Iterator[Message]:
    """Every record of an entry, offsets absolute and timestamps as a consumer is to see them.

    `limit_bytes` bounds the decompressed size. Checksums are not looked at. Raises RecordError:
    INVALID_RECORD for a wrapper that breaks the rules of nesting, CORRUPT_MESSAGE for bytes that
    are no messages, and what decompress raises.
    """
    if not header.is_compressed:
        yield read_message(view, position, header.batch_length)
        return
    for message in iterate_nested(view, position, header, limit_bytes, checked=False):
        if message.magic > _LARGEST_MAGIC:
            raise invalid(f"magic {message.magic} in a wrapper of magic {header.magic}")
        yield message


def iterate_nested(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int, *, checked: bool
) -> Iterator[Message]:
    """The records within a wrapper, of whatever magic they say they are.

    `checked`: CORRUPT_MESSAGE for one of the wrapper's magic whose CRC is wrong.
    """
    plain = _plain_messages(view, position, header, limit_bytes)
    base_offset = _base_offset(header, plain)
    append_time_ms = header.max_timestamp if header.is_log_append_time else None
    for at, size in _places(plain):
        message = read_message(plain, at, size)
        if checked and message.magic == header.magic:
            check_message(plain, at, size, message)
        if message.is_compressed:
            raise invalid("a message within a compressed one must not be compressed")
        yield _resolved(message, base_offset, append_time_ms)


def check_message(view: memoryview, position: int, size: int, message: Message) -> None:
    """Raises RecordError CORRUPT_MESSAGE when it is not what its writer checksummed."""
    computed = computed_crc(view, position, size)
    if computed != message.crc:
        raise corrupt(f"stored crc {message.crc:#010x}, computed {computed:#010x}")


def _plain_messages(
    view: memoryview, position: int, header: BatchHeader, limit_bytes: int
) -> memoryview:
    codec = _codec(header)
    packed = read_message(view, position, header.batch_length).value
    if packed is None:
        raise invalid("a compressed message without a value")
    plain = memoryview(decompress_for_magic(header.magic, codec, packed, limit_bytes))
    if next(_places(plain), None) is None:
        raise invalid("a compressed message with no messages within")
    return plain


def _codec(header: BatchHeader) -> Codec:
    try:
        codec = codec_of(header.attributes)
    except RecordError as error:
        raise invalid(error.detail) from error
    if codec is Codec.ZSTD:
        raise invalid(f"zstd in magic {header.magic}, which is older")
    return codec


def _base_offset(header: BatchHeader, plain: memoryview) -> int:
    """What to add to the offsets within a wrapper, whose own offset is that of the last."""
    if header.magic < _RELATIVE_OFFSETS_SINCE_MAGIC or header.last_offset == 0:
        return 0  # early librdkafka leaves the wrapper's offset 0
    last_within = 0
    for at, _ in _places(plain):
        last_within, *_ = ENTRY.unpack_from(plain, at)
    if header.last_offset < last_within:
        raise invalid(
            f"offset {header.last_offset} of a compressed message is less than that of its last "
            f"message, {last_within}"
        )
    return header.last_offset - last_within


def _places(plain: memoryview) -> Iterator[tuple[int, int]]:
    """Positions and sizes of the complete messages; an incomplete last one is left out."""
    position = 0
    while len(plain) - position >= LOG_OVERHEAD:
        size = batch_bytes(plain, position) - LOG_OVERHEAD
        if size < SMALLEST_MESSAGE:
            raise corrupt(f"message of {size} bytes")
        end = position + LOG_OVERHEAD + size
        if end > len(plain):
            return
        yield position, size
        position = end


def _resolved(message: Message, base_offset: int, append_time_ms: int | None) -> Message:
    timestamp_ms = message.timestamp_ms
    attributes = message.attributes
    if append_time_ms is not None and message.magic:
        timestamp_ms = append_time_ms
        attributes |= LOG_APPEND_TIME_BIT
    offset = base_offset + message.offset
    if offset > _LARGEST_OFFSET:
        raise invalid(
            f"offset {message.offset} within a compressed message reaches past all others"
        )
    return message._replace(offset=offset, timestamp_ms=timestamp_ms, attributes=attributes)
