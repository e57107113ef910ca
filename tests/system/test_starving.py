"""The starving of processes: it stops them for the share that was asked, and always ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice

import psutil
import pytest

from tests.starving.plan import Starvation
from tests.starving.starver import ROOT, starving
from tests.waiting import PATIENCE_S, wait_for

PLAN = Starvation(seed=3, busy_loops=1, shortest_ms=10, longest_ms=30, at_most_s=60)
SLEEPER = [sys.executable, "-c", "import time; time.sleep(600)"]
# A process whose child is to be starved with it, and which says the child's id.
PARENT = f"""
import subprocess
with subprocess.Popen({SLEEPER!r}) as child:
    print(child.pid, flush=True)
"""
OWNER = """
import sys
from tests.starving.plan import Starvation
from tests.starving.starver import starving
with starving(int(sys.argv[1]), Starvation(seed=3, busy_loops=2, at_most_s=60)) as starver:
    print(starver.guard_pid, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def sleeper() -> Iterator[psutil.Process]:
    with subprocess.Popen(SLEEPER) as process:
        yield psutil.Process(process.pid)
        process.kill()


def is_stopped(process: psutil.Process) -> bool:
    return bool(process.status() == psutil.STATUS_STOPPED)


def wait_until_stopped(process: psutil.Process) -> None:
    wait_for(f"stop of {process}", process.status, psutil.STATUS_STOPPED.__eq__)


def wait_until_continued(process: psutil.Process) -> None:
    wait_for(f"continuation of {process}", process.status, psutil.STATUS_STOPPED.__ne__)


def test_every_process_has_slices_of_its_own() -> None:
    plan = Starvation(seed=1)
    slices = list(islice(plan.slices(0), 10))
    assert slices == list(islice(plan.slices(0), 10))
    assert slices != list(islice(plan.slices(1), 10))


def test_every_process_of_a_tree_is_stopped_again_and_again_and_goes_on_at_the_end() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        tree = [psutil.Process(parent.pid), psutil.Process(int(parent.stdout.readline()))]
        with starving(parent.pid, PLAN) as starver:
            for process in tree * 5:
                wait_until_stopped(process)
                wait_until_continued(process)
        assert not any(map(is_stopped, tree))
        for process in reversed(tree):
            process.kill()
    suffered = starver.suffered
    assert suffered is not None
    assert suffered.processes == 2
    assert suffered.stops >= 10
    # A guard that is starved itself stops for longer, and never for less than was asked.
    assert suffered.stopped_s >= suffered.stops * PLAN.shortest_ms / 1000 / 2


def test_a_process_that_is_spared_is_left_in_the_state_that_others_give_it(
    sleeper: psutil.Process,
) -> None:
    with starving(sleeper.pid, PLAN) as starver:
        with starver.sparing(sleeper.pid):
            sleeper.send_signal(signal.SIGSTOP)
            wait_until_stopped(sleeper)
            assert all(is_stopped(sleeper) for _ in range(1000))
            sleeper.send_signal(signal.SIGCONT)
            wait_until_continued(sleeper)
        wait_until_stopped(sleeper)


def test_an_owner_that_is_killed_leaves_nobody_stopped_and_no_busy_loop(
    sleeper: psutil.Process,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(sleeper.pid)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        guard = psutil.Process(int(owner.stdout.readline()))
        busy = guard.children()
        assert len(busy) == 2
        wait_until_stopped(sleeper)
        owner.kill()
    psutil.wait_procs([guard, *busy], timeout=PATIENCE_S)
    assert not any(process.is_running() for process in (guard, *busy))
    assert not is_stopped(sleeper)


def test_it_ends_by_itself_when_its_time_is_up(sleeper: psutil.Process) -> None:
    with starving(sleeper.pid, Starvation(seed=3, busy_loops=1, at_most_s=0.3)) as starver:
        guard = psutil.Process(starver.guard_pid)
        wait_for("end of the guard", guard.status, psutil.STATUS_ZOMBIE.__eq__)
        assert not is_stopped(sleeper)
    assert starver.suffered is not None
    assert starver.suffered.lasted_s >= 0.3
