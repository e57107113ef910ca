"""What a stretch of work cost: wall clock, this process's CPU, the brokers' CPU."""

from __future__ import annotations

import resource
import time
from types import TracebackType
from typing import Self

from benchmarks.target import Target


class Stopwatch:
    """``with Stopwatch(target) as watch``: the costs are there after the block.

    The client's CPU is that of this whole process, librdkafka's threads included. The kernel
    counts the brokers' in ticks of 10 ms.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self.seconds = 0.0
        self.client_cpu_s = 0.0
        self.brokers_cpu_s: float | None = None

    def __enter__(self) -> Self:
        self._brokers_before = self._target.brokers_cpu_s()
        self._client_before = _own_cpu_s()
        self._started = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds = self.elapsed_s()
        self.client_cpu_s = _own_cpu_s() - self._client_before
        brokers_now = self._target.brokers_cpu_s() if error is None else None
        if brokers_now is not None and self._brokers_before is not None:
            self.brokers_cpu_s = brokers_now - self._brokers_before

    def elapsed_s(self) -> float:
        return time.perf_counter() - self._started


def _own_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
