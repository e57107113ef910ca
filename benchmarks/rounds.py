"""Who is measured when: A B A B, so that a change of the machine hits every target alike."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from benchmarks.figures import WARM_UP, Figures, Result, rate
from benchmarks.warmth import warm_up


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


@dataclass(frozen=True, slots=True)
class Case(Generic[T]):
    """``run`` measures once; None says that the case does not apply to that target.

    ``warm_up`` is the case in small: it comes once before the first round, and again until it no
    longer gets faster where the plan has the time.
    """

    name: str
    run: Callable[[T], Figures | None]
    warm_up: Callable[[T], Figures] | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """``deadline`` (monotonic seconds) leaves out rounds after the first of a case, and warm-ups.

    ``before`` is called before each run that counts. ``warm_up_s`` bounds the warm-up of a case on
    a target.
    """

    rounds: int
    warm_up_s: float = 0.0
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
    warmed = {target.name: _warm_up(case, target, plan) for target in targets}
    for number in range(plan.rounds):
        if number and time.monotonic() > plan.deadline:
            break
        for target in targets:
            _tell(f"{case.name}: {target.name}, round {number + 1}")
            plan.before()
            figures = case.run(target)
            if figures is not None:
                figures = {**figures, **warmed[target.name]}
                results.append(Result(case.name, target.name, number + 1, figures))
    return results


def _warm_up(case: Case[T], target: T, plan: Plan) -> Figures:
    """How long it took, as a figure; none where it was a matter of once."""
    if case.warm_up is None:
        return {}
    run = case.warm_up
    bound_s = plan.warm_up_s if time.monotonic() < plan.deadline else 0.0
    warmth = warm_up(lambda: rate(run(target)), bound_s)
    if not plan.warm_up_s:
        return {}
    _tell(f"{case.name}: {target.name}, {warmth}")
    return {WARM_UP: warmth.seconds}


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)
