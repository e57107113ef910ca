"""The invariants hold over many seeds, and the runs are such that it means something."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.everything import IS_ASKED_FOR
from tests.sim.simulation import Simulation

SEEDS_A_TEST = 25
TESTS = 8 if IS_ASKED_FOR else 4
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * TESTS, SEEDS_A_TEST))
def test_the_invariants_hold_after_every_event_whatever_fails(first: int) -> None:
    counts: Counter[str] = Counter()
    acked_under_fault = 0
    for seed in range(first, first + SEEDS_A_TEST):
        summary = Simulation(seed).run()
        counts += summary.counts
        acked_under_fault += summary.acked_under_fault
    assert counts["fault"] >= 4 * SEEDS_A_TEST
    assert counts["leader-elected"] >= 3 * SEEDS_A_TEST  # two of them at the topic's creation
    assert counts["controller-elected"] >= 1.5 * SEEDS_A_TEST
    assert counts["isr-shrunk"] >= SEEDS_A_TEST
    assert counts["isr-expanded"] >= SEEDS_A_TEST
    assert counts["log-truncated"] >= 2
    assert counts["log-start-raised"] >= 5 * SEEDS_A_TEST
    assert counts["disk lost"] >= 2
    assert counts["log-begun-with-batch"] >= 1
    assert counts["znode-set-aside"] >= 1
    assert counts["topic-created"] >= 3 * SEEDS_A_TEST
    assert acked_under_fault >= 20 * SEEDS_A_TEST


@pytest.mark.parametrize("seed", [3, 11])
def test_a_seed_gives_the_same_run_event_by_event(seed: int) -> None:
    first, second = (Simulation(seed, keep_all=True) for _ in range(2))
    assert first.run() == second.run()
    assert list(first.trace.entries) == list(second.trace.entries)


def test_a_seed_gives_the_same_run_in_another_process() -> None:
    """Nothing may hang on the order of a set of strings, which Python changes from run to run."""
    command = [sys.executable, "-m", "tests.sim", "--replay", "5"]
    runs = [
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[0].count("\n") > 1000


def test_messages_as_bytes_make_no_difference_to_the_run() -> None:
    as_objects = Simulation(8, keep_all=True, through_codec=False)
    as_bytes = Simulation(8, keep_all=True, through_codec=True)
    assert as_objects.run() == as_bytes.run()
    assert list(as_objects.trace.entries) == list(as_bytes.trace.entries)
