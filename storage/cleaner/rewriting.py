"""What is left of one batch: the same bytes, fewer records, no records, or nothing.

Kafka's MemoryRecords.filterTo. A batch that changes is built anew in its own codec and keeps its
place: base and last offset, leader epoch, producer and sequence. Its base timestamp becomes the
first record's, or the delete horizon once it has one.

Stricter than Kafka: a damaged batch is refused, where a new checksum would hide the damage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from logquake.storage.cleaner.record_filter import BatchVerdict, Horizon, RecordFilter, WhenEmpty
from logquake.storage.disk.seam import Buffer
from logquake.storage.segments.segment import StagedBatch
from logquake.wire.records import (
    MAX_DECOMPRESSED_BYTES,
    BatchFlag,
    BatchHeader,
    Record,
    check_crc,
    encode_batch,
    encode_message_set,
    iterate_records,
    read_end_marker,
    read_header,
)

_KEPT_FLAGS = BatchFlag.LOG_APPEND_TIME | BatchFlag.TRANSACTIONAL | BatchFlag.CONTROL


class Rewritten(NamedTuple):
    """A batch as it is to be written, None for nothing; records read and kept."""

    batch: StagedBatch | None
    records_read: int
    records_kept: int


def rewrite(
    view: memoryview,
    position: int,
    header: BatchHeader,
    record_filter: RecordFilter,
    horizon: Horizon,
) -> Rewritten:
    """Raises RecordError for a batch that is damaged."""
    check_crc(view, position, header)
    records = list(iterate_records(view, position, header, MAX_DECOMPRESSED_BYTES))
    if header.is_control:
        marker = read_end_marker(view, position, header) if records else None
        verdict = record_filter.judge_control(
            header, marker.control_type if marker else None, horizon
        )
        kept = [] if verdict.drops_records else records
    else:
        verdict = record_filter.judge_data(header)
        kept = [] if verdict.drops_records else _kept(records, header, record_filter, horizon)
    original = view[position : position + header.size]
    is_whole = len(kept) == len(records)
    data = _content(original if is_whole else None, header, kept, verdict, horizon)
    staged = _staged(memoryview(data)) if data else None
    return Rewritten(staged, len(records), len(kept))


def _kept(
    records: Sequence[Record], header: BatchHeader, record_filter: RecordFilter, horizon: Horizon
) -> list[Record]:
    keeps = record_filter.keeps
    return [record for record in records if keeps(record, header, horizon)]


def _content(
    original: memoryview | None,
    header: BatchHeader,
    kept: Sequence[Record],
    verdict: BatchVerdict,
    horizon: Horizon,
) -> Buffer | None:
    """original is the batch, where every record is kept. None: nothing is left."""
    if not kept:
        return _emptied(header) if verdict.when_empty is WhenEmpty.KEPT else None
    if header.is_legacy:
        return original or _rebuilt_set(header, kept)
    if _wants_horizon(header, kept, verdict):
        return _rebuilt(header, kept, horizon.next_ms)
    horizon_ms = header.base_timestamp if header.has_delete_horizon else None
    return original or _rebuilt(header, kept, horizon_ms)


def _wants_horizon(header: BatchHeader, kept: Sequence[Record], verdict: BatchVerdict) -> bool:
    if header.has_delete_horizon:
        return False
    return verdict.marks_empty_txn or any(record.value is None for record in kept)


def _rebuilt_set(header: BatchHeader, kept: Sequence[Record]) -> bytes:
    """Of magic 0 or 1: the wrapper's offset becomes that of its last record, as in Kafka."""
    append_time_ms = header.max_timestamp if header.is_log_append_time else None
    return encode_message_set(kept, header.magic, codec=header.codec, append_time_ms=append_time_ms)


def _rebuilt(header: BatchHeader, kept: Sequence[Record], horizon_ms: int | None) -> bytearray:
    flags = header.attributes & _KEPT_FLAGS
    return encode_batch(
        kept,
        codec=header.codec,
        base_offset=header.base_offset,
        leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        flags=flags if horizon_ms is None else flags | BatchFlag.DELETE_HORIZON,
        # The last sequence is computed from it.
        last_offset=header.last_offset,
        base_timestamp=horizon_ms,
        max_timestamp=header.max_timestamp if header.is_log_append_time else None,
    )


def _emptied(header: BatchHeader) -> bytearray:
    return encode_batch(
        [],
        base_offset=header.base_offset,
        leader_epoch=header.partition_leader_epoch,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        flags=header.attributes & _KEPT_FLAGS,
        last_offset=header.last_offset,
        max_timestamp=header.max_timestamp,
    )


def _staged(data: memoryview) -> StagedBatch:
    header = read_header(data)
    return StagedBatch(data, header.base_offset, header.last_offset, header.max_timestamp)
