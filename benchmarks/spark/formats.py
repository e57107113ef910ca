"""Formats that one Spark reads and writes through, and what its processes cost meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import psutil

from benchmarks.figures import Figures
from benchmarks.spark.connector import CONNECTORS, OURS

_MILLION = 10**6
ONCE = "logquake, exactly once"


class Cpu(NamedTuple):
    """Of a process, and of those that it started, once they have ended; seconds."""

    own_s: float
    ended_s: float


@dataclass(frozen=True, slots=True)
class Format:
    """``writing`` are the options of its sink besides where."""

    name: str
    short_name: str
    spark: Any
    bootstrap: str
    writing: Mapping[str, str] = field(default_factory=dict)

    def reader(self, topic: str) -> Any:
        return self._at(self.spark.read.format(self.short_name), topic).load()

    def stream(self, topic: str, starting: str = "earliest") -> Any:
        source = self._at(self.spark.readStream.format(self.short_name), topic)
        return source.option("startingOffsets", starting).load()

    def to(self, writer: Any, topic: str) -> Any:
        """A writer of a batch or of a stream."""
        placed = writer.format(self.short_name).options(topic=topic, **self.writing)
        return placed.option("kafka.bootstrap.servers", self.bootstrap)

    def _at(self, reader: Any, topic: str) -> Any:
        servers = reader.option("kafka.bootstrap.servers", self.bootstrap)
        return servers.option("subscribe", topic)


def formats(spark: Any, bootstrap: str, *, connector: bool) -> list[Format]:
    """Ours first, which the others are held against."""
    once = {"deliveryGuarantee": "exactly-once"}
    ours = [
        Format(OURS, OURS, spark, bootstrap),
        Format(ONCE, OURS, spark, bootstrap, once),
    ]
    return [*ours, Format("connector", CONNECTORS, spark, bootstrap)] if connector else ours


class Spent:
    """By Spark's JVM and its Python workers, and by the clock, since it was made."""

    def __init__(self, spark: Any) -> None:
        self._jvm = psutil.Process(spark.sparkContext._gateway.proc.pid)
        self._before = self._cpu()
        self._began = time.perf_counter()

    def figures(self, rows: int) -> Figures:
        seconds = time.perf_counter() - self._began
        cpu_s = spent_s(self._before, self._cpu())
        return {"rows/s": rows / seconds, "CPU s/million rows": cpu_s / rows * _MILLION}

    def _cpu(self) -> dict[int, Cpu]:
        found = {}
        for process in (self._jvm, *self._jvm.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):  # it has just ended
                times = process.cpu_times()
                ended = times.children_user + times.children_system
                found[process.pid] = Cpu(times.user + times.system, ended)
        return found


def spent_s(before: Mapping[int, Cpu], after: Mapping[int, Cpu]) -> float:
    """What has ended meanwhile is counted by whoever started it, with what it had before; what
    nobody has counted, since that one ended too, is lost.
    """
    nothing = Cpu(0.0, 0.0)
    alive_s = sum(cpu.own_s - before.get(pid, nothing).own_s for pid, cpu in after.items())
    ended_s = sum(cpu.ended_s - before.get(pid, nothing).ended_s for pid, cpu in after.items())
    had_s = sum(sum(cpu) for pid, cpu in before.items() if pid not in after)
    return alive_s + max(0.0, ended_s - had_s)
