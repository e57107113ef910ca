"""A call that fails, at every call of a workload, changing or reading: EIO, ENOSPC.

The step either goes on right or ends in StorageError and in nothing else; what was acknowledged
stays readable, by the logs that are open and by those that the next start opens; and a log that
takes another batch has really taken it.
"""

from __future__ import annotations

import errno
import itertools
import random
from collections.abc import Callable
from contextlib import suppress

import pytest

from logquake.storage.errors import StorageError
from tests.doubles.memory_disk import MemoryDisk, Unsynced
from tests.storage.crash.life import Life
from tests.storage.crash.promises import check_log
from tests.storage.crash.workload import STEPS, Step

PAGE_BYTES = 128
Inject = Callable[[MemoryDisk, int], None]
Record = Callable[[str, object], None]


def change_fails_once(disk: MemoryDisk, call: int) -> None:
    disk.fail_at(call, OSError(errno.EIO, "input/output error"))


def disk_is_full(disk: MemoryDisk, call: int) -> None:
    disk.fail_at(call, OSError(errno.ENOSPC, "no space left"), lasting=True)


def read_fails_once(disk: MemoryDisk, call: int) -> None:
    disk.fail_read_at(call, OSError(errno.EIO, "input/output error"))


def disk_is_unreadable(disk: MemoryDisk, call: int) -> None:
    disk.fail_read_at(call, OSError(errno.EIO, "input/output error"), lasting=True)


@pytest.fixture(scope="module", params=STEPS[1:], ids=lambda step: step.__name__)
def step_and_life(request: pytest.FixtureRequest) -> tuple[Step, Life]:
    """A step, and the life that was led before it."""
    life = Life(MemoryDisk(PAGE_BYTES))
    for earlier in itertools.takewhile(lambda one: one is not request.param, STEPS):
        earlier(life)
    return request.param, life


@pytest.mark.parametrize("inject", [change_fails_once, disk_is_full])
def test_a_change_that_fails(
    step_and_life: tuple[Step, Life], inject: Inject, record_property: Record
) -> None:
    step, life = step_and_life
    calls = calls_of(step, life, lambda disk: disk.faults.changes)
    try_every_call(step, life, inject, calls)
    record_property("failed calls of a disk", calls)


@pytest.mark.parametrize("inject", [read_fails_once, disk_is_unreadable])
def test_a_read_that_fails(
    step_and_life: tuple[Step, Life], inject: Inject, record_property: Record
) -> None:
    step, life = step_and_life
    calls = calls_of(step, life, lambda disk: disk.faults.reads)
    try_every_call(step, life, inject, calls)
    record_property("failed calls of a disk", calls)


def calls_of(step: Step, before: Life, count: Callable[[MemoryDisk], int]) -> int:
    """How many the step makes when nothing fails."""
    life = before.fork()
    earlier = count(life.disk)
    step(life)
    return count(life.disk) - earlier


def try_every_call(step: Step, before: Life, inject: Inject, calls: int) -> None:
    for call in range(1, calls + 1):
        life = before.fork()
        life.disk.faults.keep_history = True
        inject(life.disk, call)
        try:
            end_in_storage_error(step, life)
            life.disk.heal()
            check_open_logs(life)
            start_again(life, random.Random(call))
        except BaseException as error:
            error.add_note(f"call {call}, after {life.disk.faults.history[-5:]}")
            raise


def end_in_storage_error(step: Step, life: Life) -> None:
    with suppress(StorageError):
        step(life)


def check_open_logs(life: Life) -> None:
    """An open log tells the truth, or says that it cannot; so it does of another batch."""
    if not life.is_open:
        return
    for topic, expected in life.expectations(Unsynced.KEPT).items():
        log = life.log_dir.log(topic, 0)
        if log is None or topic in life.offline:
            continue
        with suppress(StorageError):
            life.accept(topic, check_log(log, expected).moment)
            life.append(topic, life.batch(topic))


def start_again(life: Life, rng: random.Random) -> None:
    unsynced = rng.choice((Unsynced.KEPT, Unsynced.LOST, Unsynced.JOURNALED))
    life.disk.crash(unsynced, rng)
    life.open()
    for topic, expected in life.expectations(unsynced).items():
        check_log(life.log_dir.log(topic, 0), expected)
