"""The program's calls, written once for callers that block and for callers that await.

A call is a generator. It has the core to itself, as under a lock, except while it waits, or while a
function of the program runs; a driver carries it out (`ThreadDriver.run`).
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")


class Wait(NamedTuple):
    """Until it is done or too late; the generator is sent whether it is done."""

    is_done: Callable[[], bool]
    deadline_ms: int


class Call(NamedTuple):
    """Something of the program's own, a listener say; the generator is sent what it returned.

    What it raises is raised in the generator.
    """

    function: Callable[[], object]


def is_worth_a_look(is_done: Callable[[], bool]) -> bool:
    """Whoever waits for it is to be woken. What it raises he is told when he looks himself."""
    try:
        return is_done()
    except Exception:  # noqa: BLE001 - it is for him to handle
        return True


Steps: TypeAlias = Generator[Wait | Call, Any, T]
Take: TypeAlias = Callable[[], Wait | Call]
"""How a call goes on: its next step, or StopIteration with what it returned."""


def to_the_end(steps: Steps[T], carry_out: Callable[[Wait | Call, Steps[T]], Take]) -> T:
    """What the call returns; ``carry_out`` does a step. Raises what the call raises.

    The call has ended then, whatever ends it: a signal handler's exception may come between two of
    its steps.
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
    """The same call; ``carry_on`` makes of each of its steps what a driver is to carry out, and
    returns what the call is sent. What that raises is raised in the call.
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
        except BaseException as error:  # noqa: BLE001 - the call ends by it, as it wants
            take = partial(steps.throw, error)
