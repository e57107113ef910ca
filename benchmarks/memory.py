"""Memory (PSS) of a cluster that has done nothing yet, and of one that was written to.

Page cache is not in it: it belongs to the machine, and goes when somebody needs the room.
"""

from __future__ import annotations

from benchmarks.figures import Figures
from benchmarks.produce import KIB, LARGE_BATCH, MB, SMALL_BATCH, Bound, Load, run
from benchmarks.rounds import Case
from benchmarks.target import Target, pss_bytes

_LOADS = tuple(Load(3, KIB, batch) for batch in (SMALL_BATCH, LARGE_BATCH))


def memory_case(when: str) -> Case[Target]:
    """``when``: "idle" or "loaded". Does not apply to a target whose pids are not known."""
    return Case(f"memory, {when}", read)


def load(target: Target, bound: Bound) -> None:
    """What comes between the two readings."""
    for one in _LOADS:
        run(target, one, bound)


def read(target: Target) -> Figures | None:
    if not target.broker_pids:
        return None
    brokers = pss_bytes(target.broker_pids) / MB
    return {
        "PSS MB/broker": brokers / len(target.broker_pids),
        "PSS MB, whole cluster": pss_bytes(target.pids) / MB,
    }
