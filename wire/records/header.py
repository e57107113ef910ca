"""The header of a record batch, and a run of batches as a log or a response holds it.

A run may mix formats: 61 bytes of header in magic 2, an entry of a message set in magic 0 and 1.
A view may end in the middle of a batch: brokers cut Fetch responses by size.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntFlag
from typing import NamedTuple

from logquake.wire.compression import Codec, codec_of
from logquake.wire.crc import crc32c
from logquake.wire.records.layout import (
    ATTRIBUTES_POSITION,
    FLAGS_POSITION,
    HEADER,
    HEADER_BYTES,
    LENGTH,
    LENGTH_OVERHEAD,
    LENGTH_POSITION,
    MAGIC,
    MAGIC_POSITION,
)
from logquake.wire.records.legacy.entry import SMALLEST_MESSAGE, computed_crc, header_fields
from logquake.wire.records.refusals import corrupt
from logquake.wire.sentinels import NO_PRODUCER_ID, NO_SEQUENCE

MAX_SEQUENCE = 0x7FFFFFFF


class BatchFlag(IntFlag):
    """Bits of a batch's attributes above the codec's three."""

    LOG_APPEND_TIME = 0x08
    TRANSACTIONAL = 0x10
    CONTROL = 0x20
    DELETE_HORIZON = 0x40  # base_timestamp is when tombstones may go (KIP-534)


_TRANSACTIONAL = int(BatchFlag.TRANSACTIONAL)  # an IntFlag's & costs more than the rest of a check


class BatchHeader(NamedTuple):
    """Kafka's RecordBatch, as stored. Offsets are records, sizes bytes, times ms.

    An entry of magic 0 or 1 is a batch too, without producer and leader epoch. Where it is
    compressed, its base offset reads as its last offset and its record count as -1: what they are
    would take decompressing it.
    """

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        return self.base_offset + self.last_offset_delta + 1

    @property
    def size(self) -> int:
        """Bytes of the whole batch."""
        return LENGTH_OVERHEAD + self.batch_length

    @property
    def codec(self) -> Codec:
        """Raises RecordError for an id that names no codec."""
        return codec_of(self.attributes)

    @property
    def is_legacy(self) -> bool:
        """Of a message set."""
        return self.magic < MAGIC

    @property
    def is_compressed(self) -> bool:
        return bool(self.attributes & 0x07)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & 0x20)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & 0x10)

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & 0x08)

    @property
    def timestamp_type(self) -> int:
        """The id of Kafka's TimestampType: messages of magic 0 have no time, and none of its."""
        return int(self.is_log_append_time) if self.magic else -1

    @property
    def has_delete_horizon(self) -> bool:
        return bool(self.attributes & 0x40)

    @property
    def has_producer_id(self) -> bool:
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """Sequences wrap from the largest int32 to 0; NO_SEQUENCE stays what it is."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & MAX_SEQUENCE


def claims_transaction(view: memoryview) -> bool:
    """By the first batch's flag alone, before anything is known to be a batch."""
    return (
        len(view) >= HEADER_BYTES
        and view[MAGIC_POSITION] == MAGIC
        and bool(view[FLAGS_POSITION] & _TRANSACTIONAL)
    )


def read_header(view: memoryview, position: int = 0) -> BatchHeader:
    """The header at `position`; the whole batch lies within the view.

    Raises RecordError CORRUPT_MESSAGE for a batch that is short, claims an absurd size, or has a
    magic that nobody has defined.
    """
    return read_header_within(view, position, len(view) - position)


def read_header_within(view: memoryview | bytes, position: int, room: int) -> BatchHeader:
    """As read_header, where the view need hold only the header and the batch fits `room` bytes."""
    available = len(view) - position
    if available > MAGIC_POSITION and view[position + MAGIC_POSITION] != MAGIC:
        return _read_entry_header(view, position, room)
    if available < HEADER_BYTES:
        raise corrupt(f"{available} bytes are too few for a record batch")
    header = BatchHeader(*HEADER.unpack_from(view, position))
    if not HEADER_BYTES <= header.size <= room:
        raise corrupt(f"record batch of {header.size} bytes where {room} are left")
    return header


def _read_entry_header(view: memoryview | bytes, position: int, room: int) -> BatchHeader:
    magic = view[position + MAGIC_POSITION]
    if magic > MAGIC:
        raise corrupt(f"invalid magic byte {magic}")
    return BatchHeader(*header_fields(view, position, room))


def iterate_batches(view: memoryview, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Positions and headers of the complete batches, in order.

    Stops at a last batch that is incomplete. Raises RecordError where read_header does.
    """
    while len(view) - position >= LENGTH_OVERHEAD:
        (length,) = LENGTH.unpack_from(view, position + LENGTH_POSITION)
        end = position + LENGTH_OVERHEAD + length
        if end > len(view):
            return
        if length <= MAGIC_POSITION - LENGTH_OVERHEAD:
            raise corrupt(f"record batch of {LENGTH_OVERHEAD + length} bytes")
        yield position, read_header(view[:end], position)
        position = end


def is_complete(view: memoryview, position: int = 0) -> bool:
    """Whether a whole batch or entry is at `position`, as far as its length and magic say.

    Raises RecordError CORRUPT_MESSAGE where they cannot be (ByteBufferLogInputStream.nextBatchSize,
    which looks at the magic of an incomplete batch too).
    """
    available = len(view) - position
    if available < LENGTH_OVERHEAD:
        return False
    (length,) = LENGTH.unpack_from(view, position + LENGTH_POSITION)
    if length < SMALLEST_MESSAGE:
        raise corrupt(f"record batch of {LENGTH_OVERHEAD + length} bytes")
    if available <= MAGIC_POSITION:
        return False
    if view[position + MAGIC_POSITION] > MAGIC:
        raise corrupt(f"invalid magic byte {view[position + MAGIC_POSITION]}")
    return bool(LENGTH_OVERHEAD + length <= available)


def check_crc(view: memoryview, position: int, header: BatchHeader) -> None:
    """Raises RecordError CORRUPT_MESSAGE when the batch is not what its writer checksummed."""
    if header.magic == MAGIC:
        computed = crc32c(view[position + ATTRIBUTES_POSITION : position + header.size])
    else:
        computed = computed_crc(view, position, header.batch_length)
    if computed != header.crc:
        raise corrupt(f"stored crc {header.crc:#010x}, computed {computed:#010x}")
