"""Long runs: ``python -m tests.sim --seeds 20000 [--first N] [--processes P]``.

Prints every failing seed with its last events, and on stderr how far it is; ends with 1 if there
was one. One seed again, with the whole of its events: ``python -m tests.sim --replay SEED``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import Pool

from logquake.storage.invariants import assert_invariants
from tests.sim.simulation import Simulation, SimulationFailure, Summary

SEEDS_A_PROGRESS_LINE = 500


def run_seed(seed: int) -> tuple[int, Summary | str]:
    try:
        return seed, Simulation(seed).run()
    except SimulationFailure as failure:
        return seed, str(failure)


def replay(seed: int) -> int:
    simulation = Simulation(seed, keep_all=True)
    try:
        print(simulation.run())
    except SimulationFailure as failure:
        print(simulation.trace.text())
        print(failure)
        return 1
    print(simulation.trace.text())
    return 0


def run_many(first: int, count: int, processes: int) -> int:
    counts: Counter[str] = Counter()
    failures = events = acked = 0
    began = time.monotonic()
    with Pool(processes) as pool:
        outcomes = pool.imap_unordered(run_seed, range(first, first + count), chunksize=4)
        for done, (_, outcome) in enumerate(outcomes, start=1):
            if done % SEEDS_A_PROGRESS_LINE == 0:
                print(f"{done} of {count} seeds, {failures} failed", file=sys.stderr, flush=True)
            if isinstance(outcome, str):
                failures += 1
                print(outcome, flush=True)
            else:
                counts += outcome.counts
                events += outcome.events
                acked += outcome.acked
    elapsed = time.monotonic() - began
    print(f"{count} seeds in {elapsed:.1f} s, {failures} failed, {events} events, {acked} acked")
    print(", ".join(f"{what} {number}" for what, number in counts.most_common()))
    return 1 if failures else 0


def main() -> int:
    assert_invariants()
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=int)
    arguments = parser.parse_args()
    if arguments.replay is not None:
        return replay(arguments.replay)
    return run_many(arguments.first, arguments.seeds, arguments.processes)


if __name__ == "__main__":
    sys.exit(main())
