"""Error codes as other brokers send them: numbers that need not be known here."""

from __future__ import annotations

from logquake.wire.errors import ErrorCode


def error_of(code: int) -> ErrorCode:
    """The code's name; UNKNOWN_SERVER_ERROR for one that Kafka 3.9 does not have."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
