"""An exception in the middle of a call, as a signal handler raises one: before each of its steps in
turn, so that no test waits for a signal to hit the one that matters.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import logquake

T = TypeVar("T")

_WITHIN = tuple(
    str(Path(logquake.__file__).parent / room) for room in ("client/", "wire/records/growing")
)


class CutOffError(Exception):
    """No error of ours, and none that would be expected."""


class _Cutter:
    """Lets so many bytecodes of the client's pass, and raises in the place of the next one."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def __call__(self, frame: FrameType, event: str, _: Any) -> _Cutter | None:
        if not frame.f_code.co_filename.startswith(_WITHIN):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self._left -= 1
            if self._left < 0:
                sys.settrace(None)
                raise CutOffError
        return self


def cut_off_after(steps: int, call: Callable[[], T]) -> T:
    """What the call returns that has no more steps than that. Raises CutOffError."""
    before = sys.gettrace()
    sys.settrace(_Cutter(steps))
    try:
        return call()
    finally:
        sys.settrace(before)


def every_step() -> Iterator[int]:
    """Whoever goes through them leaves at the first that is one too many."""
    return iter(range(100_000))
