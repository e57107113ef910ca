"""Calls of a program's, carried out as drivers do where nobody waits: it is done, or too late."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from logquake.client.driving.steps import Call, Steps, Take, Wait, to_the_end

T = TypeVar("T")


def at_once(steps: Steps[T]) -> T:
    """What the call returns. Raises what the call raises."""
    return to_the_end(steps, _carry_out)


def _carry_out(step: Wait | Call, steps: Steps[Any]) -> Take:
    try:
        came_to = step.function() if isinstance(step, Call) else step.is_done()
    except BaseException as error:  # noqa: BLE001 - the call ends by it, as it wants
        return partial(steps.throw, error)
    return partial(steps.send, came_to)
