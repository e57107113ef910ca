"""Who is in a call of a consumer's: one caller at a time (KafkaConsumer.acquire).

A listener may call its consumer again, in the call that it is told in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from logquake.client.errors import ConcurrentUseError

_WITHIN: ContextVar[tuple[object, ...]] = ContextVar("calls of consumers", default=())
"""The calls that a task is in, or was begun in."""


class Callers(Protocol):
    def one_at_a_time(self) -> AbstractContextManager[None]:
        """Around a call. Raises ConcurrentUseError."""


class Threads:
    """``who`` says which thread calls."""

    def __init__(self, who: Callable[[], object]) -> None:
        self._who = who
        self._caller: object | None = None
        self._depth = 0

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        caller = self._who()
        if self._depth and self._caller != caller:
            raise ConcurrentUseError("another thread is in a call of this consumer")
        self._caller = caller
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


class Tasks:
    """A task counts as the one that it was begun in: `asyncio.wait_for` begins one, up to 3.11."""

    def __init__(self) -> None:
        self._calls: list[object] = []  # each is made in the one before

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        if self._calls and self._calls[-1] not in _WITHIN.get():
            raise ConcurrentUseError("another task is in a call of this consumer")
        call = object()
        self._calls.append(call)
        _WITHIN.set((*_WITHIN.get(), call))
        try:
            yield
        finally:
            self._calls.remove(call)
            # What a call that nobody ended leaves behind is tidied up in whatever context.
            _WITHIN.set(tuple(each for each in _WITHIN.get() if each is not call))
