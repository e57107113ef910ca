"""Mutated requests of every key to a live cluster: ``python -m tests.fuzz.live --requests 100000``.

Ends with 1 if a broker did what it must not: ended, grew, left a client without its answer, or
disturbed one that behaves.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzz.live.campaign import Plan, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.live", description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--brokers", type=int, default=1)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--secure", action="store_true")
    kind.add_argument("--quota", action="store_true")
    parser.add_argument("--connections", type=int, default=12)
    options = parser.parse_args()
    outcome = run(Plan(**vars(options)))
    print(f"seed {options.seed}: {outcome}")
    return 0 if outcome.holds else 1


if __name__ == "__main__":
    sys.exit(main())
