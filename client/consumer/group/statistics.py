"""A member's statistics, under Kafka's names (GroupCoordinatorMetrics, ConsumerCoordinatorMetrics,
RebalanceCallbackMetricsManager), and the causes of its failures.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from logquake.client.measures import Measure

_SECONDS_AN_HOUR = 3_600


class GroupEventKind(Enum):
    JOINS = "joins"  # for the first time, or anew
    OUT = "out"  # lost its membership, or left
    REBALANCE_FAILED = "rebalance failed"
    COORDINATOR_LOST = "coordinator lost"
    COMMIT_FAILED = "commit failed"


class GroupEvent(NamedTuple):
    """Something that happened to a member, and the cause."""

    kind: GroupEventKind
    cause: str


class Timed:
    """How often something was done, and how long it took, in milliseconds."""

    def __init__(self, name: str, latency: str) -> None:
        self._count = Measure(name)
        self._latency = Measure(latency)

    def add(self, latency_ms: int, now_ms: int) -> None:
        self._count.add(1, now_ms)
        self._latency.add(latency_ms, now_ms)

    def metrics(self, now_ms: int) -> dict[str, float]:
        return {**self._count.flow(now_ms), **self._latency.spread(now_ms)}


class GroupStatistics:
    """``on_event`` is called while the core is held; it has to pass the event on."""

    def __init__(self, on_event: Callable[[GroupEvent], object] = lambda _: None) -> None:
        self.heartbeats = Timed("heartbeat", "heartbeat-response-time")
        self.joins = Timed("join", "join-time")
        self.syncs = Timed("sync", "sync-time")
        self.commits = Timed("commit", "commit-latency")
        self.listeners = {
            what: Measure(f"partition-{what}-latency") for what in ("assigned", "revoked", "lost")
        }
        self._on_event = on_event
        self._rebalances = Measure("rebalance")
        self._rebalance_latencies = Measure("rebalance-latency")
        self._failed_rebalances = Measure("failed-rebalance")
        self._rebalancing_since_ms: int | None = None
        self._rebalanced_ms: int | None = None

    def tell(self, kind: GroupEventKind, cause: object) -> None:
        self._on_event(GroupEvent(kind, str(cause)))

    def rebalance_began(self, now_ms: int) -> None:
        """A rebalance after a failed one counts as its continuation."""
        if self._rebalancing_since_ms is None:
            self._rebalancing_since_ms = now_ms

    def rebalance_failed(self, cause: object, now_ms: int) -> None:
        self._failed_rebalances.add(1, now_ms)
        self.tell(GroupEventKind.REBALANCE_FAILED, cause)

    def rebalance_ended(self, now_ms: int) -> None:
        if self._rebalancing_since_ms is not None:
            self._rebalances.add(1, now_ms)
            self._rebalance_latencies.add(now_ms - self._rebalancing_since_ms, now_ms)
        self._rebalancing_since_ms = None
        self._rebalanced_ms = now_ms

    def metrics(self, now_ms: int, heartbeat_sent_ms: int | None) -> dict[str, float]:
        """For events that never happened, the seconds since are -1."""
        told: dict[str, float] = {}
        for timed in (self.heartbeats, self.joins, self.syncs, self.commits):
            told |= timed.metrics(now_ms)
        del told["heartbeat-response-time-avg"]  # Kafka has only the maximum
        for latency in (*self.listeners.values(), self._rebalance_latencies):
            told |= latency.spread(now_ms)
        for rebalances in (self._rebalances, self._failed_rebalances):
            told |= rebalances.flow(now_ms)
        for name in ("rebalance", "failed-rebalance"):
            told[f"{name}-rate-per-hour"] = told.pop(f"{name}-rate") * _SECONDS_AN_HOUR
        return {
            **told,
            "rebalance-latency-total": self._rebalance_latencies.flow(now_ms)[
                "rebalance-latency-total"
            ],
            "last-heartbeat-seconds-ago": _since(heartbeat_sent_ms, now_ms),
            "last-rebalance-seconds-ago": _since(self._rebalanced_ms, now_ms),
        }


def _since(then_ms: int | None, now_ms: int) -> float:
    return -1.0 if then_ms is None else (now_ms - then_ms) // 1000
