"""Slow calls, in parallel with the core: looking up a host, or obtaining a token from the
program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from threading import Lock, Thread
from typing import Protocol, TypeVar

from logquake.client.driving.waker import Waker

T = TypeVar("T")


class Aside(Protocol):
    def __call__(self, function: Callable[[], T], told: Callable[[T | Exception], None], /) -> None:
        """Call it, now or later, and report what it returned or raised."""


def in_place(function: Callable[[], T], told: Callable[[T | Exception], None], /) -> None:
    """Call it at once, even if it blocks."""
    try:
        outcome = function()
    except Exception as error:  # noqa: BLE001 - the receiver handles it
        told(error)
    else:
        told(outcome)


class OnThreads:
    """Runs each call on its own thread, which is never joined. Satisfies Aside.

    ``tell`` reports the outcomes; the waker ends the driver's wait for sockets first.
    """

    def __init__(self, waker: Waker) -> None:
        self._waker = waker
        self._lock = Lock()
        self._came: deque[Callable[[], None]] = deque()
        self._is_over = False

    def __call__(self, function: Callable[[], T], told: Callable[[T | Exception], None], /) -> None:
        thread = Thread(target=self._run, args=(function, told), name="aside", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads, or Python is shutting down
            in_place(function, told)

    def tell(self) -> None:
        while self._came:
            self._came.popleft()()

    def close(self) -> None:
        """Later outcomes are dropped: the waker's descriptor may be another file's by then."""
        with self._lock:
            self._is_over = True

    def _run(self, function: Callable[[], T], told: Callable[[T | Exception], None]) -> None:
        in_place(function, lambda outcome: self._came.append(partial(told, outcome)))
        with self._lock:
            if not self._is_over:
                self._waker.wake()
