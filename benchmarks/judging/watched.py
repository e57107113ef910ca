"""A command's CPU time and memory, those of all processes that it starts included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import psutil

from benchmarks.errors import BenchmarkError

_LOOK_S = 0.5


@dataclass(slots=True)
class Watched:
    """``bytes`` are those in memory at once, at most, as of each look."""

    status: int
    output: str
    cpu_s: float
    bytes: int


def watch(arguments: Sequence[str], timeout_s: float) -> Watched:
    """``python ARGUMENTS``, looked at twice a second: what comes after the last look is missed.

    Raises BenchmarkError where it takes longer.
    """
    process = psutil.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    cpu_s, most = 0.0, 0
    for _ in range(int(timeout_s / _LOOK_S)):
        try:
            output, _ = process.communicate(timeout=_LOOK_S)
            return Watched(process.returncode, output, cpu_s, most)
        except subprocess.TimeoutExpired:
            seconds, size = _look(process)
            cpu_s, most = max(cpu_s, seconds), max(most, size)
    for each in (*process.children(recursive=True), process):
        each.kill()
    process.wait()
    raise BenchmarkError(f"{' '.join(arguments)} took longer than {timeout_s:.0f} s")


def _look(process: psutil.Process) -> tuple[float, int]:
    cpu_s, size = 0.0, 0
    for each in (process, *process.children(recursive=True)):
        try:
            cpu_s += sum(each.cpu_times()[:4])  # of children that have ended, too
            size += each.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return cpu_s, size
