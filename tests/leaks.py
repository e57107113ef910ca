"""What a test leaks fails that test, not the one in which the collector comes upon it.

A socket that nobody closed warns when it is collected, and a warning is an error. What a failed
test left, other people's clients too, is kept alive by what it raised until the next one has begun.

A thread that goes on when its module has ended fails the module: a client that nobody closed looks
for its brokers for ever, and draws from the generator that later tests draw from.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from tests.waiting import PATIENCE_S

LAST_RAISED = ("last_exc", "last_type", "last_value", "last_traceback")
ROOT = Path(__file__).parents[1]
OF_THE_PROCESS = frozenset({"py4j"})  # Spark's way to its JVM outlives every session
PLACES = 3  # of our own code, that are told of where a thread began


@pytest.fixture(autouse=True)
def leaks_are_its_own() -> Iterator[None]:
    """Begins before a test's other fixtures, so that it ends after them."""
    yield
    for name in LAST_RAISED:
        vars(sys).pop(name, None)
    gc.collect()


@pytest.fixture(scope="module", autouse=True)
def threads_end_with_their_module() -> Iterator[None]:
    """Those that a module's tests and fixtures begin, in Python; they may take their time."""
    begun: dict[threading.Thread, str] = {}
    start = threading.Thread.start

    def start_noted(thread: threading.Thread) -> None:
        begins = sys._getframe(1)
        if begins.f_globals.get("__name__", "").partition(".")[0] not in OF_THE_PROCESS:
            begun[thread] = _places(begins)
        start(thread)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", start_noted)
        yield
    alive = _outliving(list(begun))
    assert not alive, "threads were left behind: " + "; ".join(
        f"{thread.name}, begun at {begun[thread]}" for thread in alive
    )


def _outliving(threads: list[threading.Thread]) -> list[threading.Thread]:
    deadline = time.monotonic() + PATIENCE_S
    for thread in threads:
        if thread.ident is not None:  # else its beginning failed
            thread.join(max(deadline - time.monotonic(), 0))
    return [thread for thread in threads if thread.is_alive()]


def _places(frame: FrameType | None) -> str:
    """Where that is, of our own code, from within."""
    places: list[str] = []
    while frame is not None and len(places) < PLACES:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT) and ".venv" not in path.parts:
            places.append(f"{path.relative_to(ROOT)}:{frame.f_lineno}")
        frame = frame.f_back
    return " for ".join(places) or "nowhere of ours"
