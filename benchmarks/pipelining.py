"""The modes of logquake.produce.pipelining: what each costs, and what a leader change doubles.

Small batches and three replicas, where a connection that waits for each answer costs most.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from benchmarks.duplicates import duplicates_cases
from benchmarks.own_cluster import NAME, own_cluster
from benchmarks.produce import KIB, SMALL_BATCH, Bound, Load, Producer, produce_cases
from benchmarks.rounds import Case
from benchmarks.target import Target

_KEY = "logquake.produce.pipelining"
_AS_KAFKA = {"replica.lag.time.max.ms": "30000"}  # a follower that is only slow may come to lead
_MODES = ("idempotent", "all", "none")
_LOADS = tuple(Load(3, KIB, SMALL_BATCH, producer) for producer in Producer)


@contextlib.contextmanager
def clusters_by_mode(brokers: int) -> Iterator[list[Target]]:
    """One cluster for each mode, the default's first."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                own_cluster(brokers, name=f"{NAME}, {mode}", config={_KEY: mode, **_AS_KAFKA})
            )
            for mode in _MODES
        ]


def pipelining_cases(bound: Bound) -> list[Case[Target]]:
    return [*produce_cases(bound, _LOADS), *duplicates_cases()]
