"""Who is measured when: A B A B, so that a change of the machine hits every target alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from benchmarks.figures import Figures, Result


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Case(Generic[T]):
    """``run`` measures once; None says that the case does not apply to that target.

    ``warm_up`` comes once a target before the first round: a JVM compiles what is hot.
    """

    name: str
    run: Callable[[T], Figures | None]
    warm_up: Callable[[T], object] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """``deadline`` (monotonic seconds) leaves out rounds after the first of a case.

    ``before`` is called before each run that counts.
    """

    rounds: int
    deadline: float = float("inf")
    before: Callable[[], None] = lambda: None


def measure(cases: Iterable[Case[T]], targets: Sequence[T], plan: Plan) -> list[Result]:
    """All cases, one after the other, each in rounds over all targets."""
    results: list[Result] = []
    for case in cases:
        results += _measure_case(case, targets, plan)
    return results


def _measure_case(case: Case[T], targets: Sequence[T], plan: Plan) -> list[Result]:
    results: list[Result] = []
    if case.warm_up:
        for target in targets:
            case.warm_up(target)
    for number in range(plan.rounds):
        if number and time.monotonic() > plan.deadline:
            break
        for target in targets:
            print(f"{case.name}: {target.name}, round {number + 1}", file=sys.stderr, flush=True)
            plan.before()
            figures = case.run(target)
            if figures is not None:
                results.append(Result(case.name, target.name, number + 1, figures))
    return results
