"""Columns of single records, slowly: of message sets, and of whatever else is unusual."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from logquake.pipeline.columns import LARGEST_MS, US_PER_MS
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import Record


def column_of(name: str, records: list[Record], *, timestamp_type: int) -> list[Any]:
    """As pyarrow takes it. Raises RecordError."""
    if name == "timestampType":
        return [timestamp_type] * len(records)
    return [_VALUES[name](record) for record in records]


def _time_us(record: Record) -> int:
    if abs(record.timestamp_ms) > LARGEST_MS:
        raise RecordError(
            ErrorCode.INVALID_TIMESTAMP,
            f"offset {record.offset} has the time {record.timestamp_ms} ms: Spark's end before",
        )
    return record.timestamp_ms * US_PER_MS


def _headers(record: Record) -> list[dict[str, Any]] | None:
    return [{"key": key, "value": value} for key, value in record.headers] or None


_VALUES: dict[str, Callable[[Record], Any]] = {
    "key": lambda record: record.key,
    "value": lambda record: record.value,
    "offset": lambda record: record.offset,
    "timestamp": _time_us,
    "headers": _headers,
}
