"""How well a topic's records compress (org.apache.kafka.common.record.CompressionRatioEstimator).

A batch is compressed only when it is built, so its size is estimated while it fills. The estimate
falls slowly and rises fast: a batch that turns out too large has to be split and sent again.
"""

from __future__ import annotations

_INITIAL = 1.0
_BETTER_STEP = 0.005
_WORSE_STEP = 0.05
# Estimates are multiplied by this (MemoryRecordsBuilder.COMPRESSION_RATE_ESTIMATION_FACTOR).
MARGIN = 1.05


class CompressionRatios:
    """For one producer, which has one codec; Kafka's are for the whole process."""

    def __init__(self) -> None:
        self._estimates: dict[str, float] = {}

    def estimate(self, topic: str) -> float:
        """Compressed bytes by uncompressed bytes."""
        return self._estimates.get(topic, _INITIAL)

    def observe(self, topic: str, ratio: float) -> None:
        estimate = self.estimate(topic)
        if ratio > estimate:
            self._estimates[topic] = max(estimate + _WORSE_STEP, ratio)
        elif ratio < estimate:
            self._estimates[topic] = max(estimate - _BETTER_STEP, ratio)

    def was_too_large(self, topic: str, ratio: float) -> None:
        """A batch of that ratio was refused: assume poor compression for a while."""
        self._estimates[topic] = max(_INITIAL, ratio)
