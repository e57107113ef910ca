"""Faults of single records, and the refusal that names them (KIP-467), in Kafka's words.

Clients show these texts to people who search for them, so they are what LogValidator writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records.limits import ProduceLimits
from logquake.wire.sentinels import NO_TIMESTAMP

_SHOWN = 3
_HALF = 2**63
_WHOLE = 2**64


class RecordFault(NamedTuple):
    """One record at fault: its place in the batch, and why."""

    place: int
    code: ErrorCode
    message: str


class Checked(NamedTuple):
    """What the rules look at in a record; `text` is how Kafka prints it."""

    place: int
    offset: int
    timestamp_ms: int
    has_key: bool
    is_log_append_time: bool
    text: str


class RejectedRecordsError(RecordError):
    """Single records of a batch are at fault; Produce 8 and later name them.

    `detail` is the response's error_message, `record_errors` are (index in the batch, message), in
    order, and not more than the limits allow.
    """

    def __init__(
        self, code: ErrorCode, detail: str, record_errors: Sequence[tuple[int, str]]
    ) -> None:
        super().__init__(code, detail)
        self.record_errors = tuple(record_errors)


def fault_of(record: Checked, limits: ProduceLimits, now_ms: int) -> RecordFault | None:
    """LogValidator.validateRecord: a missing key comes before a wrong time."""
    if limits.compacted and not record.has_key:
        return RecordFault(
            record.place,
            ErrorCode.INVALID_RECORD,
            "Compacted topic cannot accept message without key in topic partition "
            f"{limits.partition}",
        )
    if not limits.log_append_time and record.timestamp_ms != NO_TIMESTAMP:
        return _fault_of_time(record, limits, now_ms)
    if record.is_log_append_time:
        return RecordFault(
            record.place,
            ErrorCode.INVALID_TIMESTAMP,
            f"Invalid timestamp type in message {record.text}. Producer should not set timestamp "
            "type to LogAppendTime.",
        )
    return None


def refuse_faulty(faults: Iterable[RecordFault], limits: ProduceLimits) -> None:
    """Raises RejectedRecordsError if there are any (LogValidator.processRecordErrors)."""
    named: list[tuple[int, str]] = []
    count, bad_time = 0, False
    for fault in faults:
        count += 1
        bad_time = bad_time or fault.code is ErrorCode.INVALID_TIMESTAMP
        if count <= limits.max_record_errors:
            named.append((fault.place, fault.message))
    if not count:
        return
    if bad_time:
        detail = "One or more records have been rejected due to invalid timestamp"
        raise RejectedRecordsError(ErrorCode.INVALID_TIMESTAMP, detail, named)
    shown = ", ".join(
        f"RecordError(batchIndex={index}, message='{message}')" for index, message in named[:_SHOWN]
    )
    detail = (
        f"One or more records have been rejected due to {count} record errors in total, and only "
        f"showing the first three errors at most: [{shown}]"
    )
    raise RejectedRecordsError(ErrorCode.INVALID_RECORD, detail, named)


def _fault_of_time(record: Checked, limits: ProduceLimits, now_ms: int) -> RecordFault | None:
    ahead_ms = _wrapped(record.timestamp_ms - now_ms)
    if -ahead_ms <= limits.timestamp_before_max_ms and ahead_ms <= limits.timestamp_after_max_ms:
        return None
    earliest = _wrapped(now_ms - limits.timestamp_before_max_ms)
    latest = _wrapped(now_ms + limits.timestamp_after_max_ms)
    return RecordFault(
        record.place,
        ErrorCode.INVALID_TIMESTAMP,
        f"Timestamp {record.timestamp_ms} of message with offset {record.offset} is out of range. "
        f"The timestamp should be within [{earliest}, {latest}]",
    )


def _wrapped(value: int) -> int:
    """As a long of Java overflows: an unbounded "after" is printed as a date long ago."""
    return (value + _HALF) % _WHOLE - _HALF
