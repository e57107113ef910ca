"""Several ZooKeeper operations in a row, written as one coroutine.

A procedure is a state machine whose only inputs are the outcomes of the operations it asks
for: ``await perform(GetData(path))``. It touches no event loop of Python's; run() drives it over
any Session, so it runs the same over kazoo and over the model in the simulation.

A procedure of long work is cut into slices, so that the owner's loop is not held: pause() between
two slices, or ``async for some in in_slices(all, size)``. Of operations asked for together, a
bounded number is under way at a time.

Caveat: between two awaits other events of the owner are handled. A procedure that must not be
interleaved with another is put in a queue by its owner (the controller's event queue does that).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from logquake.zk.operations import Failed, Operation, Session

R = TypeVar("R")
T = TypeVar("T")

_MAX_IN_FLIGHT = 256
"""Operations of one step. More would only wait in ZooKeeper's queue, and here all their answers
would come in one pass of the loop."""

SLICE = 1_000
"""Items of which each is some ten microseconds of work: a slice holds the loop as long as a large
request of a client."""

Later = Callable[[Callable[[], None]], object]


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


class _Pause:
    """A step of a procedure that asks for nothing: the loop has its turn, then it goes on."""

    def __await__(self) -> Generator[_Pause, None, None]:
        yield self


Procedure = Coroutine[_Ask[Any] | _Pause, Any, T]


async def pause() -> None:
    """Let the loop do what else there is, then go on."""
    await _Pause()


async def in_slices(items: Sequence[T], size: int = SLICE) -> AsyncIterator[Sequence[T]]:
    """All items in order, a pause between one slice and the next."""
    for start in range(0, len(items), size):
        if start:
            await pause()
        yield items[start : start + size]


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


async def perform_all(operations: Sequence[Operation[R]]) -> list[R]:
    """Perform operations side by side; their answers in order. Raises ZkFailure."""
    answers = []
    for outcome in await attempt_all(operations):
        if isinstance(outcome, Failed):
            raise ZkFailure(outcome)
        answers.append(outcome)
    return answers


def _no_loop(_action: Callable[[], None]) -> None:
    raise TypeError("a procedure that pauses needs a loop")


def run(
    session: Session,
    procedure: Procedure[T],
    done: Callable[[T | ZkFailure], None],
    later: Later = _no_loop,
) -> None:
    """Drive a procedure; call done with what it returned, or the ZkFailure that ended it.

    ``later`` calls an action once the loop has had its turn: only those that pause need it.
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
            if isinstance(ask, _Pause):
                later(lambda: step(None))
            else:
                _Step(session, ask.operations, step).go_on()

    step(None)


class _Step:
    """Operations asked for together; at most _MAX_IN_FLIGHT of them are under way."""

    def __init__(
        self,
        session: Session,
        operations: Sequence[Operation[Any]],
        then: Callable[[list[Any]], None],
    ) -> None:
        self._session = session
        self._operations = operations
        self._then = then
        self._outcomes: list[Any] = [None] * len(operations)
        self._submitted = 0
        self._settled = 0
        self._submitting = False

    def go_on(self) -> None:
        if self._submitting:  # an answer came from within submit(): the loop below goes on
            return
        self._submitting = True
        while (
            self._submitted < len(self._operations)
            and self._submitted - self._settled < _MAX_IN_FLIGHT
        ):
            index = self._submitted
            self._submitted += 1
            self._session.submit(self._operations[index], partial(self._settle, index))
        self._submitting = False
        if self._settled == len(self._operations):
            self._then(self._outcomes)

    def _settle(self, index: int, outcome: Any) -> None:
        self._outcomes[index] = outcome
        self._settled += 1
        self.go_on()
