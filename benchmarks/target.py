"""What is measured: a bootstrap address, and the processes behind it if they run here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.errors import BenchmarkError


@dataclass(frozen=True, slots=True)
class Target:
    """``broker_pids`` and ``pids`` (all processes of the cluster) are empty where unknown.

    ``client`` is what librdkafka has to be told of it beyond ``bootstrap`` when it is to be the
    load, and may be another way in.
    """

    name: str
    bootstrap: str
    broker_pids: tuple[int, ...] = ()
    pids: tuple[int, ...] = ()
    client: Mapping[str, str] = field(default_factory=dict)

    def brokers_cpu_s(self) -> float | None:
        """User and system seconds that the brokers used since they started, None if unknown."""
        if not self.broker_pids:
            return None
        return self._cpu_s(self.broker_pids)

    def cpu_s(self) -> float:
        """The same of all processes that are known."""
        return self._cpu_s(self.pids)

    def _cpu_s(self, pids: tuple[int, ...]) -> float:
        try:
            times = [psutil.Process(pid).cpu_times() for pid in pids]
        except psutil.Error as error:
            raise BenchmarkError(f"a process of {self.name} is gone: {error}") from error
        return sum(float(one.user + one.system) for one in times)


def parse_target(text: str) -> Target:
    """``NAME=HOST:PORT[,HOST:PORT...][,pids=PID[,PID...]]``. Raises BenchmarkError."""
    name, equals, rest = text.partition("=")
    bootstrap, _, listed = rest.partition(",pids=")
    if not (name and equals and bootstrap):
        raise BenchmarkError(f"{text!r}: expected NAME=HOST:PORT[,pids=PID,...]")
    try:
        pids = tuple(int(pid) for pid in listed.split(",") if pid)
    except ValueError:
        raise BenchmarkError(f"{text!r}: pids are numbers") from None
    return Target(name, bootstrap, pids, pids)


def pss_bytes(pids: tuple[int, ...]) -> int:
    """Proportional set size: pages that n processes share count for one n-th in each."""
    return sum(_pss_of(pid) for pid in pids)


def _pss_of(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError as error:
        raise BenchmarkError(f"memory of process {pid}: {error.strerror}") from error
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
