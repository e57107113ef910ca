"""Batches out of records, in aiokafka's compiled encoder with a header of our own.

The encoder knows nothing of control batches, of append times, of gaps at a batch's end or of a
base offset, so only the records' bytes are taken from it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import crc32c
from aiokafka.record.default_records import DefaultRecordBatchBuilder

from logquake.wire.compression import Codec, compress, decompress
from logquake.wire.records.header import (
    ATTRIBUTES_POSITION,
    HEADER,
    HEADER_BYTES,
    LENGTH_OVERHEAD,
    MAGIC,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    BatchHeader,
)
from logquake.wire.records.reading import NO_TIMESTAMP, Record


def encode_batch(
    records: Sequence[Record],
    *,
    codec: Codec = Codec.NONE,
    base_offset: int = 0,
    leader_epoch: int = -1,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = -1,
    base_sequence: int = NO_SEQUENCE,
    flags: int = 0,
    last_offset: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """One batch of magic 2 with its CRC.

    Records carry absolute offsets, ascending, from base_offset on; gaps are allowed, as
    compaction leaves them. `flags` are BatchFlag bits. What defaults to None follows from the
    records: compaction keeps the last_offset of a batch whose last records went, a delete horizon
    stands in base_timestamp, and an append time in max_timestamp. A batch of no records is what
    compaction leaves of a producer's last batch; it needs last_offset.
    Raises ValueError for no records without last_offset.
    """
    if not records and last_offset is None:
        raise ValueError("a batch without records needs its last offset")
    first_timestamp = records[0].timestamp_ms if records else NO_TIMESTAMP
    origin = first_timestamp if base_timestamp is None else base_timestamp
    payload = compress(codec, _encode_records(records, base_offset, origin))
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=codec | flags,
        last_offset_delta=(records[-1].offset if last_offset is None else last_offset)
        - base_offset,
        base_timestamp=origin,
        max_timestamp=_latest(records) if max_timestamp is None else max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return _seal(header, payload)


def recompress(
    view: memoryview, position: int, header: BatchHeader, codec: Codec, limit_bytes: int
) -> bytearray:
    """The same batch in another codec, for topics that set compression.type.

    Raises RecordError as decompress does.
    """
    packed = view[position + HEADER_BYTES : position + header.size]
    plain = decompress(header.codec, packed, limit_bytes)
    attributes = (header.attributes & ~0x07) | codec
    return _seal(header._replace(attributes=attributes), compress(codec, plain))


def _encode_records(records: Sequence[Record], base_offset: int, base_timestamp: int) -> memoryview:
    # The builder takes its first timestamp as the base and -1 for "none yet"; an empty record
    # at time 0, cut off again, makes every later one relative to 0 whatever it is.
    builder = DefaultRecordBatchBuilder(MAGIC, Codec.NONE, 0, -1, -1, -1, sys.maxsize)
    builder.append(0, 0, None, None, [])
    cut = builder.size()
    for offset, timestamp_ms, key, value, headers in records:
        delta = offset - base_offset
        builder.append(delta, timestamp_ms - base_timestamp, key, value, list(headers))
    return memoryview(builder.build())[cut:]


def _latest(records: Sequence[Record]) -> int:
    return max((record.timestamp_ms for record in records), default=NO_TIMESTAMP)


def _seal(header: BatchHeader, payload: bytes) -> bytearray:
    """Header and payload as one batch, its length and CRC computed."""
    batch = bytearray(HEADER_BYTES + len(payload))
    batch[HEADER_BYTES:] = payload
    whole = header._replace(batch_length=len(batch) - LENGTH_OVERHEAD)
    HEADER.pack_into(batch, 0, *whole)
    with memoryview(batch) as view:
        crc = crc32c.crc32c(view[ATTRIBUTES_POSITION:])
    HEADER.pack_into(batch, 0, *whole._replace(crc=crc))
    return batch
