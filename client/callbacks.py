"""Which errors of a program's function end the client that called it; closing its objects."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

_LOG = logging.getLogger(__name__)


def fails_alone(error: BaseException) -> bool:
    """Whether it is an error of that function, and not the end of whoever has called it.

    asyncio's CancelledError is no Exception, but nobody cancels the caller of a plain function:
    it asked a future that was cancelled for its result.
    """
    return isinstance(error, Exception) or _is_cancelled(error)


def those_with(method: str, objects: Sequence[T]) -> list[T]:
    """Of the program's own: what one has not it does not want to hear."""
    return [each for each in objects if hasattr(each, method)]


def close_own(own: object) -> None:
    """Close an object of the program's, if it can be closed; errors are logged."""
    close = getattr(own, "close", None)
    if close is None:
        return
    try:
        close()
    except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
        _LOG.exception("%r could not be closed", own)


def _is_cancelled(error: BaseException) -> bool:
    # Whoever has no loop has not loaded asyncio, which takes its time.
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)
