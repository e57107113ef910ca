"""Long runs: ``python -m tests.fuzz [--seconds 60] [--seed N] [--target PREFIX]``.

Damages valid bytes of every message and version, of requests with their headers, of coordinator
keys and of record batches, in turn. Prints each input that ended in anything but success or the
one error of its kind, and ends with 1 if there was one. Such an input again:
``python -m tests.fuzz --replay TARGET:HEX``.

Coverage does not guide it. Compiled decoders branch only on nulls, long lengths and tags, all of
which the valid bytes reach already; what is left to find lies in numbers, and damage that knows
the forms of lengths gets there sooner.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import traceback
from random import Random

from tests.fuzz.damage import damaged
from tests.fuzz.targets import TARGETS, Target

DAMAGED_EACH = 20  # from one valid input


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
            failures += not attempt(target, damaged(valid, random))
            inputs += 1
    print(f"seed {seed}: {inputs} inputs to {len(targets)} targets, {failures} failures")
    return 1 if failures else 0


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
