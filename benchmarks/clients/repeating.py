"""Clients that do one thing again and again: how often, at what cost."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from statistics import quantiles

from benchmarks.clients.driver import run
from benchmarks.clients.line import Line
from benchmarks.figures import Figures
from benchmarks.stopwatch import Stopwatch
from benchmarks.target import Target

Act = Callable[[], Awaitable[None]]


class SameAgain:
    """One request, of which each answer is the same: looked at once, and compared from then on.

    ``look`` raises BenchmarkError for an answer that is none.
    """

    def __init__(self, line: Line, frame: bytes, look: Callable[[bytes], None]) -> None:
        self._line = line
        self._frame = frame
        self._look = look
        self._known = b""

    async def __call__(self) -> None:
        answer = await self._line.exchange(self._frame)
        if answer != self._known:
            self._look(answer)
            self._known = answer


def repeat(target: Target, acts: Iterable[Act], seconds: float, what: str) -> Figures:
    """Each act by one client, for so long. ``what`` is done each time, a word for the figures."""
    waits_ms: list[float] = []
    with Stopwatch(target) as watch:
        deadline = time.perf_counter() + seconds
        run(_repeat(act, deadline, waits_ms) for act in acts)
    percentiles = quantiles(waits_ms, n=100, method="inclusive")
    figures = {
        f"{what}s/s": len(waits_ms) / watch.seconds,
        "p50 ms": percentiles[49],
        "p99 ms": percentiles[98],
        f"client us/{what}": watch.client_cpu_s / len(waits_ms) * 1e6,
    }
    if watch.brokers_cpu_s is not None:
        figures[f"brokers us/{what}"] = watch.brokers_cpu_s / len(waits_ms) * 1e6
    return figures


async def _repeat(act: Act, deadline: float, waits_ms: list[float]) -> None:
    started = time.perf_counter()
    while started < deadline:
        await act()
        ended = time.perf_counter()
        waits_ms.append((ended - started) * 1e3)
        started = ended
