"""How much, how often and how long, lately (org.apache.kafka.common.metrics: Meter, Avg, Max).

Lately is the last minute, in two samples, as metrics.sample.window.ms and metrics.num.samples are
by default. Times come from whoever measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

_SAMPLE_MS = 30_000
_SAMPLES = 2


@dataclass(slots=True)
class _Sample:
    start_ms: int
    count: int = 0
    total: float = 0.0
    most: float = 0.0


class Measure:
    """``name`` as Kafka's, without what follows it: -rate and -total, or -avg and -max."""

    __slots__ = ("_name", "_samples", "_total")

    def __init__(self, name: str) -> None:
        self._name = name
        self._total = 0.0
        self._samples: list[_Sample] = []

    def add(self, value: float, now_ms: int) -> None:
        samples = self._samples
        if not samples or now_ms - samples[-1].start_ms >= _SAMPLE_MS:
            samples.append(_Sample(now_ms))
            del samples[:-_SAMPLES]
        last = samples[-1]
        last.count += 1
        last.total += value
        if value > last.most:
            last.most = value
        self._total += value

    def flow(self, now_ms: int) -> dict[str, float]:
        """A second, and since the beginning."""
        samples = self._current(now_ms)
        since_ms = max(now_ms - samples[0].start_ms, _SAMPLE_MS) if samples else _SAMPLE_MS
        rate = sum(each.total for each in samples) * 1000 / since_ms
        return {f"{self._name}-rate": rate, f"{self._name}-total": self._total}

    def spread(self, now_ms: int) -> dict[str, float]:
        """As Kafka's are, they are no numbers where there was nothing."""
        average, most = self.average(now_ms), self.most(now_ms)
        return {f"{self._name}-avg": average, f"{self._name}-max": most}

    def most(self, now_ms: int) -> float:
        return max((each.most for each in self._current(now_ms)), default=nan)

    def average(self, now_ms: int) -> float:
        samples = self._current(now_ms)
        count = sum(each.count for each in samples)
        return sum(each.total for each in samples) / count if count else nan

    def _current(self, now_ms: int) -> list[_Sample]:
        oldest_ms = now_ms - _SAMPLES * _SAMPLE_MS
        return [each for each in self._samples if each.start_ms > oldest_ms]
