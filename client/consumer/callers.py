"""Admits one caller at a time to a consumer (KafkaConsumer.acquire).

A listener may call its consumer, within the call that invoked the listener.
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
"""The listeners and other callbacks within which this task runs or was started."""


class Callers(Protocol):
    def one_at_a_time(self) -> AbstractContextManager[None]:
        """Wraps each call. Raises ConcurrentUseError."""


class Threads:
    """``who`` identifies the calling thread."""

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
    """``listener`` stands for the program's function that the call is running, if any."""

    def __init__(self, task: object) -> None:
        self.task = task
        self.listener: object | None = None


class Tasks:
    """A task that a listener starts, as `asyncio.wait_for` does up to 3.11, may call the consumer
    until the listener returns; after that it is another caller. ``who`` identifies the task.
    """

    def __init__(self, who: Callable[[], object]) -> None:
        self._who = who
        self._calls: list[_TasksCall] = []  # each made within the one before

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
        """The same steps; the program's functions in them, and their tasks, may call back."""
        return with_each(steps, self._hearing)

    def _hearing(self, step: Wait | Call) -> Steps[object]:
        sent: object = yield (
            Call(partial(self.listen, step.function)) if isinstance(step, Call) else step
        )
        return sent

    async def listen(self, function: Callable[[], object]) -> object:
        """Call the function, and await what it returns if that is awaitable."""
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
