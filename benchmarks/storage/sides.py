"""Ours and the limit, as two targets of one case."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.figures import Figures
from benchmarks.rounds import Case


@dataclass(frozen=True, slots=True)
class Side:
    name: str


OURS, LIMIT = Side("logquake"), Side("limit")
SIDES = (OURS, LIMIT)

Measure = Callable[[], Figures]


def contest(name: str, ours: Measure, limit: Measure, *, warm_up: bool = True) -> Case[Side]:
    """``warm_up``: a run of each comes first, for caches and the allocator."""
    measures = {OURS: ours, LIMIT: limit}

    def run(side: Side) -> Figures:
        return measures[side]()

    return Case(name, run, run if warm_up else None)


def cpu_seconds(work: Callable[[], object]) -> float:
    """User and system time of this process for work; garbage of others is collected before."""
    gc.collect()
    started = time.process_time()
    work()
    return time.process_time() - started
