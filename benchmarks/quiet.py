"""Waiting until the clusters have done what the last run left them to do.

A cluster goes on after its load: a JVM compiles, brokers delete topics and sync files. Whoever is
measured next would pay for it, in CPU caches and in pages that come and go.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from benchmarks.target import Target
from benchmarks.topics import FREED_AFTER_S

LOOK_S = 0.5
ENOUGH = 0.1  # of one CPU, all of the clusters' processes together
TIMEOUT_S = 10.0


def wait_until_quiet(targets: Sequence[Target]) -> None:
    """Goes on after TIMEOUT_S all the same, and says so. Targets without known pids count as quiet.

    Raises BenchmarkError when a process of theirs is gone.
    """
    time.sleep(FREED_AFTER_S)
    deadline = time.monotonic() + TIMEOUT_S
    used = _cpu_s(targets)
    while True:
        time.sleep(LOOK_S)
        before, used = used, _cpu_s(targets)
        share = (used - before) / LOOK_S
        if share < ENOUGH:
            return
        if time.monotonic() > deadline:
            print(f"  the clusters still use {share:.0%} of a CPU", file=sys.stderr, flush=True)
            return


def _cpu_s(targets: Sequence[Target]) -> float:
    return sum(target.cpu_s() for target in targets)
