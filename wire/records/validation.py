"""What a leader refuses from a client: the rules of Kafka's LogValidator and UnifiedLog.

The order of the checks is Kafka's, so that a batch with two faults is answered alike.
Stricter than Kafka 3.9, on purpose:
- A record whose offset is not its place in the batch is refused, compressed or not. Kafka stores
  such an uncompressed batch as it is (consumers then see offsets twice or never) and rewrites a
  compressed one.
- A transactional batch without a producer id, or a producer id without an epoch, is refused: no
  producer state could hold it.
- Decompression is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

from aiokafka.record.default_records import DefaultRecord

from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.header import (
    MAGIC,
    MAGIC_POSITION,
    BatchHeader,
    check_crc,
    iterate_batches,
)
from logquake.wire.records.reading import NO_TIMESTAMP
from logquake.wire.records.walk import walk_records

UNBOUNDED_MS = 2**63 - 1
_PIECE_RECORDS = 4096
ZSTD_SINCE_VERSION = 7  # of Produce (KIP-110)


@dataclass(frozen=True, slots=True)
class ProduceLimits:
    """A topic's rules for what may be written to it. The defaults are Kafka 3.9's."""

    # max.message.bytes: the whole batch as sent, compressed.
    max_batch_bytes: int = 1_048_588
    # What one batch may decompress to. Kafka has no such bound: a batch of 1 MiB can ask it for
    # a gigabyte. Too low refuses well-compressed batches that Kafka takes.
    max_decompressed_bytes: int = 128 * 1024 * 1024
    # cleanup.policy holds "compact": every record needs a key.
    compacted: bool = False
    # message.timestamp.type=LogAppendTime: the records' own times are overwritten.
    log_append_time: bool = False
    # message.timestamp.before.max.ms, message.timestamp.after.max.ms
    timestamp_before_max_ms: int = UNBOUNDED_MS
    timestamp_after_max_ms: int = UNBOUNDED_MS


class RejectedRecordsError(RecordError):
    """Single records of a batch are at fault; Produce 8 and later name them (KIP-467).

    `record_errors` are (index in the batch, message), in order.
    """

    def __init__(
        self, code: ErrorCode, detail: str, record_errors: Sequence[tuple[int, str]]
    ) -> None:
        super().__init__(code, detail)
        self.record_errors = tuple(record_errors)


def read_produced(view: memoryview, produce_version: int) -> BatchHeader:
    """The header of the one batch that a partition's records in Produce 3 and later must be.

    Bytes of an incomplete batch after it are Kafka's to ignore: append `header.size` bytes.
    Raises RecordError: INVALID_RECORD for none or several batches or an older magic,
    UNSUPPORTED_COMPRESSION_TYPE for zstd before version 7, and what read_header raises.
    """
    if len(view) > MAGIC_POSITION and view[MAGIC_POSITION] < MAGIC:
        raise _invalid(f"magic {view[MAGIC_POSITION]} in Produce version {produce_version}")
    batches = iterate_batches(view)
    _, header = next(batches, (0, None))
    if header is None:
        raise _invalid("no complete record batch")
    if header.codec is Codec.ZSTD and produce_version < ZSTD_SINCE_VERSION:
        raise RecordError(
            ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd in Produce version {produce_version}"
        )
    if next(batches, None) is not None:
        raise _invalid("more than one record batch")
    return header


def validate_produced(
    view: memoryview, position: int, header: BatchHeader, limits: ProduceLimits, now_ms: int
) -> int:
    """Check one batch from a client, header, CRC and every record.

    Returns the largest timestamp of its records (-1: none has one), which belongs into the
    batch's max_timestamp unless the topic keeps append times; see set_max_timestamp.
    Raises RecordError (RejectedRecordsError where single records are at fault).
    """
    _check_size(header, limits)
    check_crc(view, position, header)
    _check_client_header(header)
    if limits.log_append_time and header.is_log_append_time:
        raise RecordError(
            ErrorCode.INVALID_TIMESTAMP, "producers must not set the timestamp type LogAppendTime"
        )
    return _check_records(view, position, header, limits, now_ms)


def _invalid(detail: str) -> RecordError:
    return RecordError(ErrorCode.INVALID_RECORD, detail)


def _check_size(header: BatchHeader, limits: ProduceLimits) -> None:
    if header.base_offset != 0:
        raise _invalid(f"the base offset should be 0, it is {header.base_offset}")
    if header.size > limits.max_batch_bytes:
        raise RecordError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"the record batch has {header.size} bytes, the limit is {limits.max_batch_bytes}",
        )


def _check_client_header(header: BatchHeader) -> None:
    if header.record_count <= 0 or header.record_count != header.last_offset_delta + 1:
        raise _invalid(
            f"{header.record_count} records with last offset delta {header.last_offset_delta}"
        )
    if header.is_control:
        raise _invalid("clients are not allowed to write control records")
    if header.has_producer_id:
        if header.base_sequence < 0 or header.producer_epoch < 0:
            raise _invalid(
                f"sequence {header.base_sequence} and epoch {header.producer_epoch} with "
                f"producer id {header.producer_id}"
            )
    elif header.is_transactional:
        raise _invalid("transactional records without a producer id")


def _check_records(
    view: memoryview, position: int, header: BatchHeader, limits: ProduceLimits, now_ms: int
) -> int:
    latest = NO_TIMESTAMP
    index = 0
    for stamps in _timestamps(walk_records(view, position, header, limits.max_decompressed_bytes)):
        latest = max(latest, _check_timestamps(stamps, index, limits, now_ms))
        index += len(stamps)
    if index != header.record_count:
        raise _invalid("record offsets do not follow each other from the base offset")
    if limits.compacted:
        _check_keys(walk_records(view, position, header, limits.max_decompressed_bytes))
    return latest


# The checks run for every record produced, so they are list comprehensions that keep no record:
# a loop in Python, or a list of the records, which the garbage collector then looks through,
# costs two to four times as much.


def _timestamps(records: Iterator[DefaultRecord]) -> Iterator[list[int]]:
    """The records' timestamps in pieces, up to one whose offset is not its place in the batch.

    In pieces, because a batch of empty records costs six times its bytes as integers.
    """
    for first in count(0, _PIECE_RECORDS):
        stamps = [
            record.timestamp
            for place, record in enumerate(islice(records, _PIECE_RECORDS), first)
            if record.offset == place
        ]
        if stamps:
            yield stamps
        if len(stamps) < _PIECE_RECORDS:
            return


def _check_keys(records: Iterator[DefaultRecord]) -> None:
    indexes = [index for index, record in enumerate(records) if record.key is None]
    if indexes:
        message = "a compacted topic cannot accept a record without key"
        raise RejectedRecordsError(
            ErrorCode.INVALID_RECORD, message, [(index, message) for index in indexes]
        )


def _check_timestamps(
    stamps: list[int], first_index: int, limits: ProduceLimits, now_ms: int
) -> int:
    """The largest of them."""
    earliest = now_ms - limits.timestamp_before_max_ms
    latest = now_ms + limits.timestamp_after_max_ms
    if not limits.log_append_time and (min(stamps) < earliest or max(stamps) > latest):
        faults = [
            (index, f"timestamp {stamp} is not within [{earliest}, {latest}]")
            for index, stamp in enumerate(stamps, first_index)
            if stamp != NO_TIMESTAMP and not earliest <= stamp <= latest
        ]
        if faults:
            raise RejectedRecordsError(ErrorCode.INVALID_TIMESTAMP, faults[0][1], faults)
    return max(stamps)
