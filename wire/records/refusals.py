"""The two refusals that all readers of records share."""

from __future__ import annotations

from logquake.wire.errors import ErrorCode, RecordError


def corrupt(detail: str) -> RecordError:
    """Bytes that are not what their writer checksummed, or cannot be a batch at all."""
    return RecordError(ErrorCode.CORRUPT_MESSAGE, detail)


def invalid(detail: str) -> RecordError:
    """Intact bytes that break a rule."""
    return RecordError(ErrorCode.INVALID_RECORD, detail)
