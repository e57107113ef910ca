"""One caller at a time in a consumer (KafkaConsumer.acquire).

A listener may call its consumer again, within the call that it runs in.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Protocol, TypeVar

from logquake.client.driving.steps import Call, Steps, Wait, with_each
from logquake.client.errors import ConcurrentUseError

T = TypeVar("T")

_WITHIN: ContextVar[tuple[object, ...]] = ContextVar("listeners of consumers", default=())
"""The listeners, and the like, that a task is in or was begun in; each is an object."""


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


class _TasksCall:
    """``listener``: what it has called of the program's own, as long as that goes on."""

    def __init__(self, task: object) -> None:
        self.task = task
        self.listener: object | None = None


class Tasks:
    """A task that a listener begins, as `asyncio.wait_for` does up to 3.11, may call until the
    listener is done; later it is another one. ``who`` says which task calls.
    """

    def __init__(self, who: Callable[[], object]) -> None:
        self._who = who
        self._calls: list[_TasksCall] = []  # each is made in the one before

    @contextmanager
    def one_at_a_time(self) -> Iterator[None]:
        task = self._who()
        if self._calls and not _may_call_in(self._calls[-1], task):
            raise ConcurrentUseError("another task is in a call of this consumer")
        call = _TasksCall(task)
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)

    def heard(self, steps: Steps[T]) -> Steps[T]:
        """The same call; what it calls of the program's own may call the consumer, in tasks too."""
        return with_each(steps, self._hearing)

    def _hearing(self, step: Wait | Call) -> Steps[object]:
        sent: object = yield (
            Call(partial(self.listen, step.function)) if isinstance(step, Call) else step
        )
        return sent

    async def listen(self, function: Callable[[], object]) -> object:
        """What it returns, awaited where that can be."""
        with self._listening():
            returned = function()
            return await returned if inspect.isawaitable(returned) else returned

    @contextmanager
    def _listening(self) -> Iterator[None]:
        task = self._who()
        call = next(each for each in reversed(self._calls) if each.task is task)
        call.listener = object()
        outer = _WITHIN.set((*_WITHIN.get(), call.listener))
        try:
            yield
        finally:
            _WITHIN.reset(outer)
            call.listener = None


def _may_call_in(call: _TasksCall, task: object) -> bool:
    return call.task is task or call.listener in _WITHIN.get()
