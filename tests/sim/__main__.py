"""Long runs: ``python -m tests.sim [--of CAST] --seeds 20000 [--first N] [--processes P]``.

CAST is who the cluster serves: ``records`` are produced, consumed and deleted; ``offsets`` are
committed; ``groups`` have members besides; ``programs`` use the clients' own consumer as members;
``copies`` are made exactly once by such programs;
``transactions`` span partitions. Faults and invariants
are of every run. Prints every failing seed with its last events, and on stderr how far it is; ends
with 1 if there was one. One seed again, with the whole of its events: ``--replay SEED``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from functools import partial
from multiprocessing import Pool

from logquake.storage.invariants import assert_invariants
from tests.sim.committing import CommittingSimulation
from tests.sim.group_simulation import GroupSimulation
from tests.sim.programs.copying import CopyingSimulation
from tests.sim.programs.simulation import ProgramsSimulation
from tests.sim.simulation import Simulation, SimulationFailure, Summary
from tests.sim.transactions.simulation import TransactionalSimulation

CASTS: Mapping[str, type[Simulation]] = {
    "records": Simulation,
    "offsets": CommittingSimulation,
    "groups": GroupSimulation,
    "copies": CopyingSimulation,
    "programs": ProgramsSimulation,
    "transactions": TransactionalSimulation,
}
SEEDS_A_PROGRESS_LINE = 500


def run_seed(cast: str, seed: int) -> Summary | str:
    try:
        return CASTS[cast](seed).run()
    except SimulationFailure as failure:
        return str(failure)


def replay(cast: str, seed: int) -> int:
    simulation = CASTS[cast](seed, keep_all=True)
    try:
        print(simulation.run())
    except SimulationFailure as failure:
        print(simulation.trace.text())
        print(failure)
        return 1
    print(simulation.trace.text())
    return 0


def run_many(cast: str, first: int, count: int, processes: int) -> int:
    counts: Counter[str] = Counter()
    failures = events = acked = 0
    began = time.monotonic()
    with Pool(processes) as pool:
        seeds = range(first, first + count)
        outcomes = pool.imap_unordered(partial(run_seed, cast), seeds, chunksize=4)
        for done, outcome in enumerate(outcomes, start=1):
            if done % SEEDS_A_PROGRESS_LINE == 0:
                so_far = f"{cast}: {done} of {count} seeds, {failures} failed"
                print(so_far, file=sys.stderr, flush=True)
            if isinstance(outcome, str):
                failures += 1
                print(outcome, flush=True)
            else:
                counts += outcome.counts
                events += outcome.events
                acked += outcome.acked
    elapsed = time.monotonic() - began
    told = f"{count} seeds in {elapsed:.1f} s, {failures} failed, {events} events, {acked} acked"
    print(f"{cast}: {told}")
    print(", ".join(f"{what} {number}" for what, number in counts.most_common()))
    return 1 if failures else 0


def main() -> int:
    assert_invariants()
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--of", choices=CASTS, default="records", metavar="CAST")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=int)
    arguments = parser.parse_args()
    if arguments.replay is not None:
        return replay(arguments.of, arguments.replay)
    return run_many(arguments.of, arguments.first, arguments.seeds, arguments.processes)


if __name__ == "__main__":
    sys.exit(main())
