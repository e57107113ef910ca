"""The program's calls, written once for callers that block and for callers that await.

A call is a generator. It holds the core, as under a lock, except while it waits, or while a
function of the program runs; a driver carries it out (`ThreadDriver.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """Wait until it is done or the deadline passes; the generator is sent whether it is done."""

    is_done: Callable[[], bool]
    deadline_ms: int


class Call(NamedTuple):
    """Call a function of the program, such as a listener; the generator is sent its result.

    What the function raises is raised in the generator.
    """

    function: Callable[[], object]


def is_worth_a_look(is_done: Callable[[], bool]) -> bool:
    """Whether to wake the waiter. If ``is_done`` raises, the waiter gets that when it checks."""
    try:
        return is_done()
    except Exception:  # noqa: BLE001 - for the waiter to handle
        return True


Steps: TypeAlias = Generator[Wait | Call, Any, T]
Take: TypeAlias = Callable[[], Wait | Call]
"""Continues a call: returns its next step, or raises StopIteration with its result."""


def to_the_end(steps: Steps[T], carry_out: Callable[[Wait | Call, Steps[T]], Take]) -> T:
    """Run the call, with ``carry_out`` for each step, and return its result. Raises what it raises.

    The call is closed in any case: a signal handler's exception may come between two of its steps.
    """
    try:
        return _to_the_end(steps, carry_out)
    finally:
        steps.close()


def _to_the_end(steps: Steps[T], carry_out: Callable[[Wait | Call, Steps[T]], Take]) -> T:
    take: Take = partial(next, steps)
    while True:
        try:
            step = take()
        except StopIteration as end:
            returned: T = end.value
            return returned
        take = carry_out(step, steps)


def with_each(steps: Steps[T], carry_on: Callable[[Wait | Call], Steps[object]]) -> Steps[T]:
    """The same call, with each step transformed: ``carry_on`` yields what the driver is to carry
    out, and returns what the call is sent. What it raises is raised in the call.
    """
    take: Take = partial(next, steps)
    while True:
        try:
            step = take()
        except StopIteration as end:
            returned: T = end.value
            return returned
        try:
            take = partial(steps.send, (yield from carry_on(step)))
        except BaseException as error:  # noqa: BLE001 - raised within the call
            take = partial(steps.throw, error)
