"""One run of one client: a process that prints what it cost, as JSON, and ends."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.libraries import awaiting, blocking, reading
from benchmarks.libraries.load import Library, Load, Work

_MB, _GB = 10**6, 10**9


@dataclass(slots=True)
class Costs:
    """Since it was made: of this whole process, threads included."""

    began: float
    cpu_s: float
    peak_kib: int

    @classmethod
    def now(cls) -> Costs:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return cls(time.perf_counter(), usage.ru_utime + usage.ru_stime, _peak_kib())

    def figures(self, load: Load, records: int) -> dict[str, float]:
        now = Costs.now()
        seconds, cpu_s = now.began - self.began, now.cpu_s - self.cpu_s
        size = records * load.record_bytes
        return {
            "records/s": records / seconds,
            "MB/s": size / seconds / _MB,
            "CPU s/GB": cpu_s / size * _GB,
            "peak MiB": now.peak_kib / 1024,
        }


def _peak_kib() -> int:
    """Of this program alone: what getrusage() tells begins with the size of who started it."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0])


def run(library: Library, load: Load) -> dict[str, float]:
    return _consume(library, load) if load.work == Work.CONSUME else _produce(library, load)


def _produce(library: Library, load: Load) -> dict[str, float]:
    if library in awaiting.SENDERS:
        return asyncio.run(_run_on_loop(library, load))
    sender = blocking.SENDERS[library](load)
    sender.send_and_wait(b"first")
    before = Costs.now()
    records = blocking.send_all(sender, load)
    figures = before.figures(load, records)
    sender.close()
    return figures


async def _run_on_loop(library: Library, load: Load) -> dict[str, float]:
    sender = await awaiting.SENDERS[library](load)
    before = Costs.now()
    records = await awaiting.send_all(sender, load)
    figures = before.figures(load, records)
    await sender.close()
    return figures


def _consume(library: Library, load: Load) -> dict[str, float]:
    if library in reading.ASYNC_READERS:
        return asyncio.run(_consume_on_loop(library, load))
    reader = reading.READERS[library](load)
    before = Costs.now()
    reader.begin()
    figures = before.figures(load, reading.read_all(reader, load))
    reader.close()
    return figures


async def _consume_on_loop(library: Library, load: Load) -> dict[str, float]:
    reader = reading.ASYNC_READERS[library](load)
    before = Costs.now()
    await reader.begin()
    figures = before.figures(load, await reading.read_all_on_loop(reader, load))
    await reader.close()
    return figures


if __name__ == "__main__":
    print(json.dumps(run(Library(sys.argv[1]), Load.of(sys.argv[2]))))
