"""Replication that leaves clients their share (KIP-73, ReplicationQuotaManager).

A topic names the replicas that are throttled, and each broker has a rate of bytes for those that it
leads, and one for those that it follows. Who is in sync is never held back, but counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logquake.node.quotas.measures import SimpleRate, Windows
from logquake.storage.log_config import NEVER


@dataclass(frozen=True, slots=True)
class ThrottledReplicas:
    """Pairs of a partition and a broker; None means all replicas of a topic."""

    pairs: frozenset[tuple[int, int]] | None = frozenset()

    @classmethod
    def parse(cls, text: str) -> ThrottledReplicas:
        """Of ``0:1,1:2`` or ``*``. Raises ValueError."""
        stripped = text.strip()
        if stripped == "*":
            return cls(None)
        pairs = (pair.split(":") for pair in stripped.split(",") if stripped)
        return cls(frozenset((int(partition), int(broker)) for partition, broker in pairs))

    def includes(self, partition: int, broker_id: int) -> bool:
        return self.pairs is None or (partition, broker_id) in self.pairs


NOBODY: Final = ThrottledReplicas()


class Throttle:
    """What one broker sends, or fetches, of throttled replicas. ``limit`` is in bytes a second."""

    def __init__(self, windows: Windows, now_ms: Callable[[], int], limit: int) -> None:
        self._rate = SimpleRate(windows)
        self._now_ms = now_ms
        self.limit = limit

    @property
    def is_set(self) -> bool:
        return self.limit != NEVER

    @property
    def is_exceeded(self) -> bool:
        return self._rate.measure(self._now_ms()) > self.limit

    def record(self, size: int) -> None:
        self._rate.record(size, self._now_ms())
