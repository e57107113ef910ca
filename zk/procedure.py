"""Several ZooKeeper operations in a row, written as one coroutine.

A procedure is a state machine whose only inputs are the outcomes of the operations it asks
for: ``await perform(GetData(path))``. It touches no event loop of Python's; run() drives it over
any Session, so it runs the same over kazoo and over the model in the simulation.

Caveat: between two awaits other events of the owner are handled. A procedure that must not be
interleaved with another is put in a queue by its owner (the controller's event queue does that).
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from logquake.zk.operations import Failed, Operation, Session

R = TypeVar("R")
T = TypeVar("T")


class ZkFailure(Exception):  # noqa: N818 - "failure" is ZooKeeper's refusal, not a bug of ours
    """An operation failed; ``failed`` says which and why."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(f"{failed.error.value} {failed.path} {failed.detail}".strip())
        self.failed = failed


@dataclass(frozen=True, slots=True)
class _Ask(Generic[R]):
    """A step of a procedure: operations asked for together; sent the list of outcomes."""

    operations: Sequence[Operation[R]]

    def __await__(self) -> Generator[_Ask[R], list[R | Failed], list[R | Failed]]:
        return (yield self)


Procedure = Coroutine[_Ask[Any], Any, T]


async def attempt_all(operations: Sequence[Operation[R]]) -> list[R | Failed]:
    """Perform operations side by side; every outcome in order, failures as values."""
    return await _Ask(operations) if operations else []


async def attempt(operation: Operation[R]) -> R | Failed:
    """Perform one operation; its failure is a value."""
    return (await _Ask([operation]))[0]


async def perform(operation: Operation[R]) -> R:
    """Perform one operation. Raises ZkFailure."""
    outcome = await attempt(operation)
    if isinstance(outcome, Failed):
        raise ZkFailure(outcome)
    return outcome


def run(session: Session, procedure: Procedure[T], done: Callable[[T | ZkFailure], None]) -> None:
    """Drive a procedure; call done with what it returned, or the ZkFailure that ended it.

    Any other exception is our bug and is raised to the caller of the step (the loop).
    """

    def step(outcomes: list[Any] | None) -> None:
        try:
            ask = procedure.send(outcomes)
        except StopIteration as stop:
            done(stop.value)
        except ZkFailure as failure:
            done(failure)
        else:
            _submit_all(session, ask.operations, step)

    step(None)


def _submit_all(
    session: Session, operations: Sequence[Operation[Any]], then: Callable[[list[Any]], None]
) -> None:
    outcomes: list[Any] = [None] * len(operations)
    missing = len(operations)

    def settle(index: int) -> Callable[[Any], None]:
        def one(outcome: Any) -> None:
            nonlocal missing
            outcomes[index] = outcome
            missing -= 1
            if missing == 0:
                then(outcomes)

        return one

    for index, operation in enumerate(operations):
        session.submit(operation, settle(index))
