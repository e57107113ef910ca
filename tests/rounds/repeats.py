"""Runs of the harness again and again, each with a seed of its own: how often does each hold?

A scenario holds where what it predicts was seen and no other invariant broke; of sound brokers, a
run in which one broke is a fault of theirs, or a false alarm of the harness.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import NamedTuple

from logquake.chaos.runs.folder import RunFolder
from logquake.chaos.runs.judgement import ExitStatus
from tests.starving.plan import Starvation
from tests.starving.starver import starving

RUN_TIMEOUT_S = 1_200.0
LOGQUAKE = Path(sys.executable).parent / "logquake"
_NAMES = {int(status): status.name.lower() for status in ExitStatus}


@dataclass(frozen=True, slots=True)
class Plan:
    scenarios: tuple[str, ...]
    times: int
    seed: int  # of the first run of each; those after it follow
    at_once: int
    evidence: Path  # of runs that did not hold
    duration: str | None = None  # of storms, instead of their own

    @property
    def runs(self) -> Iterable[tuple[int, str]]:
        """All scenarios in turn, so that what is slow is spread."""
        return product(range(self.seed, self.seed + self.times), self.scenarios)


@dataclass(slots=True)
class Outcome:
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def is_sound(self) -> bool:
        """No run broke, and all but one in twenty held."""
        return all(
            not counts["broke"] and 20 * counts["held"] >= 19 * counts.total()
            for counts in self.counts.values()
        )

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: " + ", ".join(f"{count} {status}" for status, count in counts.items())
            for name, counts in sorted(self.counts.items())
        )


def run(plan: Plan, starvation: Starvation | None) -> Outcome:
    """``starvation`` is of this process's children: every run and its cluster."""
    outcome = Outcome()
    with ExitStack() as stack:
        if starvation is not None:
            stack.enter_context(starving(os.getpid(), starvation))
        pool = stack.enter_context(ThreadPoolExecutor(plan.at_once))
        for ended in as_completed([pool.submit(_ended, plan, *one) for one in plan.runs]):
            scenario, seed, status, told = ended.result()
            outcome.counts[scenario][status] += 1
            print(f"{scenario}, seed {seed}: {status}", *told, sep="\n  ", flush=True)
    return outcome


class Ended(NamedTuple):
    scenario: str
    seed: int
    status: str
    told: tuple[str, ...] = ()


def _ended(plan: Plan, seed: int, scenario: str) -> Ended:
    folder = RunFolder(plan.evidence / f"{Path(scenario).stem}-{seed}")
    command = [str(LOGQUAKE), "chaos", "run", scenario, "-q", "--seed", str(seed)]
    command += ["--report", str(folder.root)]
    if plan.duration is not None:
        command += ["--duration", plan.duration]
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Ended(scenario, seed, "without an end")
    status = _NAMES.get(ended.returncode, "crashed")
    if ended.returncode == ExitStatus.HELD:
        shutil.rmtree(folder.root)
    elif folder.verdict.is_file():
        verdict = json.loads(folder.verdict.read_text())
        told = (*verdict["unexpected"], *verdict["unmet"], *verdict["troubles"])
        return Ended(scenario, seed, status, told)
    return Ended(scenario, seed, status, tuple(ended.stderr.splitlines()[-5:]))
