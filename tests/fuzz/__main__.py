"""Long runs: ``python -m tests.fuzz [--seconds 60] [--seed N] [--target PREFIX]``.

Damages valid bytes of every message and version, of requests with their headers, of coordinator
keys and of record batches, in turn. Prints each input that ended in anything but success or the
one error of its kind, or took much memory, and ends with 1 if there was one. Such an input again:
``python -m tests.fuzz --replay TARGET:HEX``.

Coverage does not guide it. Compiled decoders branch only on nulls, long lengths and tags, all of
which the valid bytes reach already; what is left to find lies in numbers, and damage that knows
the forms of lengths gets there sooner.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import sys
import time
import traceback
from random import Random

from tests.fuzz.damage import damaged
from tests.fuzz.targets import TARGETS, Target

DAMAGED_EACH = 20  # from one valid input
MOST_GROWTH_BYTES = 16 << 20  # all that is read here is small, and decoders have bounds


def attempt(target: Target, data: bytes) -> bool:
    """Whether the target did as it must; says so when it did not."""
    try:
        target.read(data)
    except Exception:  # noqa: BLE001  # whatever else comes out is the finding
        traceback.print_exc()
        print(f"--replay {target.name}:{data.hex()}", file=sys.stderr)
        return False
    return True


def run(targets: list[Target], seed: int, seconds: float) -> int:
    random, began = Random(seed), time.monotonic()
    inputs = failures = 0
    for target in itertools.cycle(targets):
        if time.monotonic() - began > seconds:
            break
        valid = target.valid(random)
        for _ in range(DAMAGED_EACH):
            data = damaged(valid, random)
            before = peak_bytes()
            failures += not (attempt(target, data) and is_frugal(target, data, before))
            inputs += 1
    print(
        f"seed {seed}: {inputs} inputs to {len(targets)} targets, {failures} failures, "
        f"{peak_bytes() >> 20} MiB at most"
    )
    return 1 if failures else 0


def is_frugal(target: Target, data: bytes, peak_before: int) -> bool:
    """Whether the input left the most memory that the process ever had about where it was."""
    grown = peak_bytes() - peak_before
    if grown > MOST_GROWTH_BYTES:
        print(f"{grown} bytes for --replay {target.name}:{data.hex()}", file=sys.stderr)
    return grown <= MOST_GROWTH_BYTES


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--target", default="", help="only those whose name begins so")
    parser.add_argument("--replay", metavar="TARGET:HEX")
    options = parser.parse_args()
    if options.replay is not None:
        name, _, data = options.replay.partition(":")
        return 0 if attempt(TARGETS[name], bytes.fromhex(data)) else 1
    targets = [target for name, target in TARGETS.items() if name.startswith(options.target)]
    return run(targets, options.seed, options.seconds) if targets else 2


if __name__ == "__main__":
    sys.exit(main())
