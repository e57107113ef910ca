"""The tests' one wait: it names what it waits for, and its time-out shows what it saw instead."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE_S = 90.0
_PAUSE_S = 0.05


def wait_for(
    what: str,
    look: Callable[[], T],
    wanted: Callable[[T], object] = bool,
    *,
    unready: tuple[type[Exception], ...] = (),
    timeout_s: float = PATIENCE_S,
) -> T:
    """Look until what is seen is ``wanted``, and return it.

    What look() raises of ``unready`` is waited out. AssertionError at the end of the time, with
    what was seen last.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        seen: T | Exception
        try:
            seen = look()
            if wanted(seen):
                return seen
        except unready as error:
            seen = error
        assert time.monotonic() < deadline, f"no {what} in {timeout_s:g} s, but {seen!r}"
        time.sleep(_PAUSE_S)
