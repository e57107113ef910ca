"""Batches out of records, in aiokafka's compiled encoder with a header of our own.

The encoder knows nothing of control batches, of append times, of gaps at a batch's end or of a
base offset, so only the records' bytes are taken from it.
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.wire.compression import Codec, compress, decompress
from logquake.wire.crc import crc32c
from logquake.wire.records.bare_encoder import new_encoder
from logquake.wire.records.compiled import DefaultRecordBatchBuilder
from logquake.wire.records.header import BatchFlag, BatchHeader
from logquake.wire.records.layout import (
    ATTRIBUTES_POSITION,
    CRC,
    CRC_POSITION,
    HEADER,
    HEADER_BYTES,
    LENGTH,
    LENGTH_OVERHEAD,
    LENGTH_POSITION,
    MAGIC,
)
from logquake.wire.records.payload import Payload
from logquake.wire.records.reading import Record, iterate_records
from logquake.wire.records.refusals import before_1970
from logquake.wire.sentinels import (
    NO_LEADER_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
)

_CODEC_BITS = 0x07
_CONTINUES = 0x80  # of a varint
_KEPT_ATTRIBUTES = _CODEC_BITS | int(BatchFlag.TRANSACTIONAL)
_REBUILT_ATTRIBUTES = int(BatchFlag.LOG_APPEND_TIME | BatchFlag.TRANSACTIONAL)


class BatchPayload:
    """The records of one batch, encoded as they come.

    Records carry absolute offsets, ascending, from base_offset on; gaps are allowed, as
    compaction leaves them. base_timestamp None: the first record's.
    """

    __slots__ = (
        "_builder",
        "_cut",
        "base_offset",
        "base_timestamp",
        "count",
        "last_offset",
        "max_timestamp",
    )

    def __init__(
        self,
        base_offset: int = 0,
        base_timestamp: int | None = None,
    ) -> None:
        self.base_offset = base_offset
        self.base_timestamp = base_timestamp
        self.max_timestamp = NO_TIMESTAMP
        self.last_offset: int | None = None
        self.count = 0
        self._builder = new_encoder()
        self._cut: int = self._builder.size()

    @property
    def size(self) -> int:
        """Bytes of the batch so far, uncompressed."""
        encoded: int = self._builder.size()
        return encoded - self._cut + HEADER_BYTES

    def size_of(self, record: Record) -> int:
        """Bytes that the record would add."""
        offset, timestamp_ms, key, value, headers = record
        origin = timestamp_ms if self.base_timestamp is None else self.base_timestamp
        size: int = self._builder.size_in_bytes(
            offset - self.base_offset, timestamp_ms - origin, key, value, list(headers)
        )
        return size

    def add(self, record: Record) -> None:
        offset, timestamp_ms, key, value, headers = record
        if self.base_timestamp is None:
            self.base_timestamp = timestamp_ms
        if timestamp_ms > self.max_timestamp:
            self.max_timestamp = timestamp_ms
        delta_ms = timestamp_ms - self.base_timestamp
        self._builder.append(offset - self.base_offset, delta_ms, key, value, list(headers))
        self.last_offset = offset
        self.count += 1

    def encoded(self) -> memoryview:
        """The records' bytes; nothing can be added any more."""
        return memoryview(self._builder.build())[self._cut :]


def encode_batch(
    records: Sequence[Record],
    *,
    codec: Codec = Codec.NONE,
    base_offset: int = 0,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    flags: int = 0,
    last_offset: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """One batch of magic 2 with its CRC.

    For the records see BatchPayload. `flags` are BatchFlag bits. What defaults to None follows
    from the records: compaction keeps the last_offset of a batch whose last records went, a delete
    horizon stands in base_timestamp, and an append time in max_timestamp. A batch of no records is
    what compaction leaves of a producer's last batch; it needs last_offset.
    Raises ValueError for no records without last_offset.
    """
    payload = BatchPayload(base_offset, base_timestamp)
    for record in records:
        payload.add(record)
    return finish_batch(
        payload,
        codec=codec,
        leader_epoch=leader_epoch,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        flags=flags,
        last_offset=last_offset,
        max_timestamp=max_timestamp,
    )


def finish_batch(
    payload: Payload,
    *,
    codec: Codec = Codec.NONE,
    level: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
    flags: int = 0,
    last_offset: int | None = None,
    max_timestamp: int | None = None,
) -> bytearray:
    """The batch around a payload; encode_batch tells of the rest."""
    end = payload.last_offset if last_offset is None else last_offset
    if end is None:
        raise ValueError("a batch without records needs its last offset")
    origin = payload.base_timestamp
    header = BatchHeader(
        base_offset=payload.base_offset,
        batch_length=0,
        partition_leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=codec | flags,
        last_offset_delta=end - payload.base_offset,
        base_timestamp=NO_TIMESTAMP if origin is None else origin,
        max_timestamp=payload.max_timestamp if max_timestamp is None else max_timestamp,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=payload.count,
    )
    return _seal(header, compress(codec, payload.encoded(), level))


def recompress(
    view: memoryview,
    position: int,
    header: BatchHeader,
    codec: Codec,
    limit_bytes: int,
    level: int | None = None,
) -> bytearray:
    """The same batch in another codec, for topics that set compression.type.

    The batch was found valid for such a topic. Raises RecordError as decompress does.
    """
    packed = view[position + HEADER_BYTES : position + header.size]
    plain = decompress(header.codec, packed, limit_bytes)
    if _is_as_built(header, plain):
        return _with_payload(header, codec, compress(codec, plain, level))
    return renumber(view, position, header, codec, limit_bytes, level)


def renumber(
    view: memoryview,
    position: int,
    header: BatchHeader,
    codec: Codec,
    limit_bytes: int,
    level: int | None = None,
) -> bytearray:
    """The same records in a new batch, their offsets in order without gaps (LogValidator's
    buildRecordsAndAssignOffsets). Whatever else the old batch had is left behind.

    Raises RecordError: before_1970, and as iterate_records does.
    """
    payload = BatchPayload()
    for place, record in enumerate(iterate_records(view, position, header, limit_bytes)):
        if record.timestamp_ms < NO_TIMESTAMP:
            raise before_1970(record.timestamp_ms)
        payload.add(record._replace(offset=place))
    fresh = header._replace(
        attributes=header.attributes & _REBUILT_ATTRIBUTES,
        base_timestamp=header.base_timestamp
        if payload.base_timestamp is None
        else payload.base_timestamp,
    )
    return _with_payload(fresh, codec, compress(codec, payload.encoded(), level))


def size_bound(record: Record) -> int:
    """What a batch of this one record weighs at most, uncompressed
    (DefaultRecordBatch.estimateBatchSizeUpperBound).
    """
    bound: int = DefaultRecordBatchBuilder.estimate_size_in_bytes(
        record.key, record.value, list(record.headers)
    )
    return bound


def stamp_producer(
    batch: bytearray, producer_id: int, producer_epoch: int, base_sequence: int
) -> None:
    """Put another producer, or another sequence, into a batch that is whole; its CRC follows."""
    header = BatchHeader._make(HEADER.unpack_from(batch))
    stamped = header._replace(
        producer_id=producer_id, producer_epoch=producer_epoch, base_sequence=base_sequence
    )
    HEADER.pack_into(batch, 0, *stamped)
    _write_crc(batch)


def _is_as_built(header: BatchHeader, plain: bytes) -> bool:
    """Whether building the batch anew would write the same header, and the same times."""
    if header.attributes & ~_KEPT_ATTRIBUTES:
        return False  # with append times the records have other times than they say
    size_bytes = next((at for at, byte in enumerate(plain) if byte < _CONTINUES), 0) + 1
    first_delta = plain[size_bytes + 1 : size_bytes + 2]  # behind the record's attributes
    return first_delta == b"\0"


def _with_payload(header: BatchHeader, codec: Codec, packed: bytes) -> bytearray:
    attributes = (header.attributes & ~_CODEC_BITS) | codec
    return _seal(header._replace(attributes=attributes), packed)


def _seal(header: BatchHeader, payload: bytes) -> bytearray:
    """Header and payload as one batch, its length and CRC computed."""
    batch = bytearray(HEADER_BYTES + len(payload))
    batch[HEADER_BYTES:] = payload
    HEADER.pack_into(batch, 0, *header)
    LENGTH.pack_into(batch, LENGTH_POSITION, len(batch) - LENGTH_OVERHEAD)
    _write_crc(batch)
    return batch


def _write_crc(batch: bytearray) -> None:
    """Of all that comes after it."""
    with memoryview(batch) as view:
        CRC.pack_into(batch, CRC_POSITION, crc32c(view[ATTRIBUTES_POSITION:]))
