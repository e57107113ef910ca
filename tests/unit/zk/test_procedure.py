"""Procedures: slices between which the loop has its turn, and a bound on what is under way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from logquake.zk.operations import Exists, Operation
from logquake.zk.procedure import ZkFailure, attempt_all, in_slices, run
from tests.doubles.session import ManualSession


class PromptSession(ManualSession):
    """Answers from within submit()."""

    def submit(self, operation: Operation[Any], done: Callable[[Any], None]) -> None:
        done(operation)


def test_ten_thousand_operations_are_answered_in_order_a_bounded_number_at_a_time() -> None:
    operations = [Exists(f"/{number}") for number in range(10_000)]
    for session in (ManualSession(), PromptSession()):
        results: list[Any] = []
        run(session, attempt_all(operations), results.append)
        while session.asked:
            session.answer(session.asked[0][0])
        assert results == [operations]
        assert session.most_asked <= 256


def test_slices_leave_the_loop_its_turn_in_between() -> None:
    later: deque[Callable[[], None]] = deque()
    seen: list[Any] = []
    ended: list[ZkFailure | None] = []

    async def walk() -> None:
        async for some in in_slices(range(7), 3):
            seen.append(list(some))

    run(ManualSession(), walk(), ended.append, later.append)
    assert seen == [[0, 1, 2]]
    later.popleft()()
    assert seen == [[0, 1, 2], [3, 4, 5]]
    later.popleft()()
    assert (seen, ended, list(later)) == ([[0, 1, 2], [3, 4, 5], [6]], [None], [])
