"""What a leader refuses from a client: the rules of Kafka's LogValidator and UnifiedLog.

The order of the checks is Kafka's, so that a batch with two faults is answered alike. Message sets
of older formats have their own reader, legacy/produced.py; the rules for a record are in faults.py.
Stricter than Kafka 3.9, on purpose:
- A batch with a record whose offset is not its place in the batch is INVALID_RECORD, unless the
  topic has it compressed anew; then it is renumbered, as in Kafka. Otherwise Kafka stores such a
  batch as it is if it is not compressed (consumers then see offsets twice or never), and answers
  UNKNOWN_SERVER_ERROR if it is.
- A transactional batch without a producer id, or a producer id without an epoch, is refused: no
  producer state could hold it.
- Decompression is bounded; so are batches with header keys that are not UTF-8, to a MiB.
And otherwise than Kafka: bytes that do not decompress are INVALID_RECORD, and codec ids that
nobody has defined UNSUPPORTED_COMPRESSION_TYPE, where Kafka answers UNKNOWN_SERVER_ERROR.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import NoReturn

from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.faults import (
    Checked,
    RecordFault,
    RejectedRecordsError,
    fault_of,
    refuse_faulty,
)
from logquake.wire.records.header import BatchHeader, check_crc, is_complete, read_header
from logquake.wire.records.layout import MAGIC, MAGIC_POSITION
from logquake.wire.records.limits import UNBOUNDED_MS, ProduceLimits
from logquake.wire.records.refusals import before_1970, invalid
from logquake.wire.records.walk import (
    UnwalkableError,
    Walk,
    WalkedRecord,
    timestamps_in_place,
    walk_exactly,
    walk_records,
    walk_unguarded,
)
from logquake.wire.sentinels import NO_TIMESTAMP

__all__ = [
    "UNBOUNDED_MS",
    "MisplacedOffsetsError",
    "ProduceLimits",
    "RejectedRecordsError",
    "read_produced",
    "validate_produced",
]

_PIECE_RECORDS = 4096
ZSTD_SINCE_VERSION = 7  # of Produce (KIP-110)


class MisplacedOffsetsError(RecordError):
    """A batch whose offsets are not 0, 1, 2..., and whose codec the topic changes.

    As it is rewritten anyhow: renumber it, and check again.
    """


def read_produced(view: memoryview, produce_version: int) -> BatchHeader:
    """The header of the one batch that a partition's records in Produce 3 and later must be.

    Bytes of an incomplete batch after it are Kafka's to ignore: append `header.size` bytes.
    Raises RecordError: INVALID_RECORD for none or several batches or an older magic,
    UNSUPPORTED_COMPRESSION_TYPE for zstd before version 7, and what read_header raises.
    """
    if len(view) <= MAGIC_POSITION or view[MAGIC_POSITION] != MAGIC:
        _refuse_first(view, produce_version)
    try:
        header = read_header(view)
    except RecordError as error:
        if not is_complete(view):
            raise invalid("no complete record batch") from error
        raise
    if produce_version < ZSTD_SINCE_VERSION and header.codec is Codec.ZSTD:
        raise RecordError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce version {produce_version}"
        )
    if len(view) != header.size and is_complete(view, header.size):
        raise invalid("more than one record batch")
    return header


def _refuse_first(view: memoryview, produce_version: int) -> NoReturn:
    if is_complete(view):
        raise invalid(f"magic {view[MAGIC_POSITION]} in Produce version {produce_version}")
    raise invalid("no complete record batch")


def validate_produced(
    view: memoryview, position: int, header: BatchHeader, limits: ProduceLimits, now_ms: int
) -> int:
    """Check one batch of magic 2 from a client, header, CRC and every record.

    Returns the largest timestamp of its records (NO_TIMESTAMP: none has one), which belongs into
    the batch's max_timestamp unless the topic keeps append times; see set_max_timestamp.
    Raises RecordError: RejectedRecordsError where single records are at fault,
    MisplacedOffsetsError for what renumber() can repair.
    """
    check_size(header, limits)
    check_crc(view, position, header)
    _check_client_header(header)
    try:
        stamps = _timestamps(walk_unguarded(view, position, header, limits.max_decompressed_bytes))
        return _check_records(view, position, header, limits, now_ms, stamps, walk_records)
    except UnwalkableError as refusal:
        return _check_exactly(view, position, header, limits, now_ms, refusal)
    except RecordError as error:
        if error.code is not ErrorCode.CORRUPT_MESSAGE:
            raise
        # Producers send again what is corrupt, and this is as it was sent.
        raise invalid(error.detail) from error


def check_size(header: BatchHeader, limits: ProduceLimits) -> None:
    if header.base_offset != 0:
        raise invalid(f"the base offset should be 0, it is {header.base_offset}")
    if header.size > limits.max_batch_bytes:
        raise too_large(header.size, limits)


def too_large(size: int, limits: ProduceLimits) -> RecordError:
    return RecordError(
        ErrorCode.MESSAGE_TOO_LARGE,
        f"the record batch has {size} bytes, the limit is {limits.max_batch_bytes}",
    )


def _check_client_header(header: BatchHeader) -> None:
    if header.record_count <= 0 or header.record_count != header.last_offset_delta + 1:
        raise invalid(
            f"{header.record_count} records with last offset delta {header.last_offset_delta}"
        )
    if header.is_control:
        raise invalid("clients are not allowed to write control records")
    if header.has_producer_id:
        if header.base_sequence < 0 or header.producer_epoch < 0:
            raise invalid(
                f"sequence {header.base_sequence} and epoch {header.producer_epoch} with "
                f"producer id {header.producer_id}"
            )
    elif header.is_transactional:
        raise invalid("transactional records without a producer id")


def _check_records(
    view: memoryview,
    position: int,
    header: BatchHeader,
    limits: ProduceLimits,
    now_ms: int,
    timestamps: Iterator[list[int]],
    walk: Walk,
) -> int:
    """The walk is for those who have to look at a record more closely than at its timestamp."""
    limit_bytes = limits.max_decompressed_bytes
    latest = earliest = NO_TIMESTAMP
    renewed = _is_renewed(header, limits)
    index = 0
    # Rules that only the slow look at each record can apply: to Kafka's letter, with its words.
    doubtful = header.is_log_append_time
    for stamps in timestamps:
        largest = max(stamps)
        latest = max(latest, largest)
        if renewed:
            smallest = min(stamps)
            earliest = min(earliest, smallest)
        doubtful = doubtful or (
            not limits.log_append_time
            and (
                min(stamps) < now_ms - limits.timestamp_before_max_ms
                or largest > now_ms + limits.timestamp_after_max_ms
            )
        )
        index += len(stamps)
    if index != header.record_count:
        _refuse_misplaced(header, index, limits)
    if limits.compacted and not doubtful:
        doubtful = _lacks_keys(walk(view, position, header, limit_bytes))
    if doubtful:
        records = walk(view, position, header, limit_bytes)
        refuse_faulty(_faults(records, header, limits, now_ms), limits)
    if earliest < NO_TIMESTAMP:
        raise before_1970(earliest)
    return latest


def _is_renewed(header: BatchHeader, limits: ProduceLimits) -> bool:
    """Whether the topic has the batch in another codec."""
    return limits.compression is not None and limits.compression is not header.codec


def _check_exactly(
    view: memoryview,
    position: int,
    header: BatchHeader,
    limits: ProduceLimits,
    now_ms: int,
    refusal: UnwalkableError,
) -> int:
    """A second opinion, so slow that it is asked about small batches only."""
    if header.size > limits.max_exact_bytes:
        raise refusal
    small = replace(limits, max_decompressed_bytes=limits.max_exact_bytes)
    try:
        stamps = _timestamps(walk_exactly(view, position, header, small.max_decompressed_bytes))
        return _check_records(view, position, header, small, now_ms, stamps, walk_exactly)
    except RecordError as error:
        raise (refusal if error.code is ErrorCode.MESSAGE_TOO_LARGE else error) from None


def _refuse_misplaced(header: BatchHeader, index: int, limits: ProduceLimits) -> None:
    detail = f"the offset of record {index} is not its place in the batch"
    if _is_renewed(header, limits):
        raise MisplacedOffsetsError(ErrorCode.INVALID_RECORD, detail)
    raise invalid(detail)


def _timestamps(records: Iterator[WalkedRecord]) -> Iterator[list[int]]:
    """The records' timestamps in pieces, up to one whose offset is not its place in the batch.

    In pieces, because a batch of empty records costs six times its bytes as integers.
    """
    for first in count(0, _PIECE_RECORDS):
        stamps = timestamps_in_place(records, first, _PIECE_RECORDS)
        if stamps:
            yield stamps
        if len(stamps) < _PIECE_RECORDS:
            return


def _lacks_keys(records: Iterator[WalkedRecord]) -> bool:
    return any(record.key is None for record in records)


def _faults(
    records: Iterator[WalkedRecord], header: BatchHeader, limits: ProduceLimits, now_ms: int
) -> Iterator[RecordFault]:
    # Where the batch would stay as it is, Kafka skips keys and values and prints less well.
    skimmed = header.is_compressed and not _is_renewed(header, limits)
    for index, record in enumerate(records):
        fault = fault_of(
            Checked(
                index,
                record.offset,
                record.timestamp,
                record.key is not None,
                header.is_log_append_time,
                _text(record, skimmed=skimmed),
            ),
            limits,
            now_ms,
        )
        if fault is not None:
            yield fault


def _text(record: WalkedRecord, *, skimmed: bool) -> str:
    name, null_size = ("PartialDefaultRecord", -1) if skimmed else ("DefaultRecord", 0)
    key_size = null_size if record.key is None else len(record.key)
    value_size = null_size if record.value is None else len(record.value)
    return (
        f"{name}(offset={record.offset}, timestamp={record.timestamp}, key={key_size} bytes, "
        f"value={value_size} bytes)"
    )
