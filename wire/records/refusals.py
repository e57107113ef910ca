"""The refusals that all readers of records share."""

from __future__ import annotations

from logquake.wire.errors import ErrorCode, RecordError


def corrupt(detail: str) -> RecordError:
    """Bytes that are not what their writer checksummed, or cannot be a batch at all."""
    return RecordError(ErrorCode.CORRUPT_MESSAGE, detail)


def invalid(detail: str) -> RecordError:
    """Intact bytes that break a rule."""
    return RecordError(ErrorCode.INVALID_RECORD, detail)


def before_1970(timestamp_ms: int) -> RecordError:
    """A time that no batch can be built with; Kafka answers UNKNOWN_SERVER_ERROR."""
    return RecordError(ErrorCode.INVALID_TIMESTAMP, f"timestamp {timestamp_ms} is before 1970")
