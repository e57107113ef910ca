"""A crash at every call that changes the disk, and at every page of every write, of a workload.

At each point the process dies, or the power goes and takes all, an ordered part or a random part
of what was not synced; recovery may be cut short once more. What must then hold is told by
crash/story.py and asserted by crash/promises.py and crash/files.py.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from tests.doubles.memory_disk import MemoryDisk
from tests.storage.crash.life import Life
from tests.storage.crash.random_life import live_at_random
from tests.storage.crash.trial import Count, crashes_everywhere
from tests.storage.crash.workload import STEPS, Step

PAGE_BYTES = 128  # a few to a batch, so that lost pages tear batches


def life_before(step: Step) -> Life:
    life = Life(MemoryDisk(PAGE_BYTES))
    for earlier in itertools.takewhile(lambda one: one is not step, STEPS):
        earlier(life)
    return life


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_a_crash_at_any_point_loses_nothing_promised(
    step: Step, record_property: Callable[[str, object], None]
) -> None:
    life, count = life_before(step), Count()
    with crashes_everywhere(life, STEPS.index(step), count):
        step(life)
    assert count.points
    record_property("crash points", count.points)
    record_property("recoveries", count.recoveries)


@pytest.mark.parametrize("seed", range(12))
def test_a_crash_at_any_point_of_a_random_life_loses_nothing_promised(
    seed: int, record_property: Callable[[str, object], None]
) -> None:
    life, count = life_before(STEPS[1]), Count()
    with crashes_everywhere(life, seed, count, one_in=8):
        live_at_random(life, random.Random(seed))
    record_property("crash points", count.points)
    record_property("recoveries", count.recoveries)
