"""What producers are told that have been replaced (KIP-588)."""

from __future__ import annotations

from logquake.wire.errors import ErrorCode


def fencing_error(error: ErrorCode, version: int, *, since: int) -> ErrorCode:
    """Versions before ``since`` know the older name of PRODUCER_FENCED alone."""
    if error is ErrorCode.PRODUCER_FENCED and version < since:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error
