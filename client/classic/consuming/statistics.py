"""The older consumer's counts, under the names of Kafka's meters (ConsumerTopicStats etc.)."""

from __future__ import annotations

from collections import Counter
from threading import Lock


class ConsumerStatistics:
    """May be used by several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    def committed(self, meter: str, offsets: int) -> None:
        self.count(meter, offsets)

    def rebalanced(self) -> None:
        self.count("RebalanceRateAndTime", 1)

    def count(self, meter: str, more: int) -> None:
        with self._lock:
            self._counts[meter] += more

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(self._counts)
