"""One batch by itself: its checksum, and its records as its header announces them."""

from __future__ import annotations

from typing import NamedTuple

from logquake.wire.errors import RecordError
from logquake.wire.records import BatchHeader, Record, check_crc, iterate_records
from logquake.wire.sentinels import NO_TIMESTAMP


class DamagedContentError(Exception):
    """The batch's header is plausible, its content is not."""

    def __init__(self, kind: str, why: str) -> None:
        super().__init__(why)
        self.kind = kind


class BatchContent(NamedTuple):
    """What the records say; first_offset is the header's where there are none."""

    first_offset: int
    records: int


def check_batch(
    batch: memoryview, header: BatchHeader, *, gaps_allowed: bool, limit_bytes: int
) -> BatchContent:
    """Raises DamagedContentError."""
    try:
        check_crc(batch, 0, header)
    except RecordError as error:
        raise DamagedContentError("checksum", error.detail) from error
    try:
        return _check_records(batch, header, gaps_allowed, limit_bytes)
    except RecordError as error:
        raise DamagedContentError("records", error.detail) from error


def _check_records(
    batch: memoryview, header: BatchHeader, gaps_allowed: bool, limit_bytes: int
) -> BatchContent:
    first_offset, previous, count, latest = header.base_offset, None, 0, NO_TIMESTAMP
    for record in iterate_records(batch, 0, header, limit_bytes):
        _check_offset(record, header, previous, gaps_allowed)
        if previous is None:
            first_offset = record.offset
        previous, count = record.offset, count + 1
        latest = max(latest, record.timestamp_ms)
    if not gaps_allowed and previous != header.last_offset:
        raise DamagedContentError(
            "records", f"the last record has offset {previous}, not {header.last_offset}"
        )
    if count and latest != header.max_timestamp and not header.is_legacy:
        raise DamagedContentError(
            "timestamp", f"the latest record is of {latest}, not of {header.max_timestamp}"
        )
    return BatchContent(first_offset if header.is_legacy else header.base_offset, count)


def _check_offset(
    record: Record, header: BatchHeader, previous: int | None, gaps_allowed: bool
) -> None:
    offset = record.offset
    if offset > header.last_offset or (offset < header.base_offset and not header.is_legacy):
        raise DamagedContentError(
            "records",
            f"offset {offset} in a batch of {header.base_offset} to {header.last_offset}",
        )
    expected = header.base_offset if previous is None else previous + 1
    if header.is_legacy and previous is None:
        return
    if offset < expected or (offset > expected and not gaps_allowed):
        raise DamagedContentError("records", f"offset {offset} where {expected} comes next")
