"""What is done to Spark's processes under a stream."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from enum import Enum
from random import Random

import psutil

from tests.rounds.streaming.driver import Driver
from tests.rounds.streaming.query import LOST_AFTER_S

_EXECUTOR = "CoarseGrainedExecutorBackend"
_DAEMON = "logquake.pipeline.starting.worker_daemon"
_PLANNERS = ("python_streaming_source_runner", "python_streaming_sink_runner")
# Until its work is done elsewhere: then it comes back as a zombie.
_PAUSED_S = LOST_AFTER_S + 5


class SparkStrike(Enum):
    DRIVER = "kill -9 of the driver"
    WORKER = "kill -9 of a Python worker"
    PLANNER = "kill -9 of a Python process that plans or commits epochs"
    EXECUTOR = "kill -9 of an executor"
    ZOMBIE = "pause of an executor until it is lost"

    def __str__(self) -> str:
        return self.value


# Of a Spark that is one JVM there is no executor.
LOCAL = (SparkStrike.DRIVER, SparkStrike.WORKER, SparkStrike.WORKER, SparkStrike.PLANNER)
STANDALONE = (*LOCAL, SparkStrike.EXECUTOR, SparkStrike.EXECUTOR, SparkStrike.ZOMBIE)


def strike(driver: Driver, what: SparkStrike, random: Random) -> bool:
    """Whether there was anybody to do it to."""
    if what is SparkStrike.DRIVER:
        driver.kill()
        return True
    found = sorted(_victims(what), key=lambda process: process.pid)
    if not found:
        return False
    victim = random.choice(found)
    try:
        if what is SparkStrike.ZOMBIE:
            _pause(victim)
        else:
            victim.kill()
    except psutil.NoSuchProcess:
        return False
    return True


def _victims(what: SparkStrike) -> list[psutil.Process]:
    ours = psutil.Process(os.getpid()).children(recursive=True)
    match what:
        case SparkStrike.WORKER:
            return _workers(ours)
        case SparkStrike.PLANNER:
            return [each for each in ours if any(name in _command(each) for name in _PLANNERS)]
        case _:
            return [each for each in ours if _EXECUTOR in _command(each)]


def _workers(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """A daemon's forks: their command is its own."""
    forks = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            parent = process.parent()
            if parent is not None and _DAEMON in _command(process) and _DAEMON in _command(parent):
                forks.append(process)
    return forks


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""  # it ended meanwhile


def _pause(process: psutil.Process) -> None:
    process.suspend()
    time.sleep(_PAUSED_S)
    process.resume()
