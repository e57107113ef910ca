"""What a member has done, under Kafka's names (GroupCoordinatorMetrics)."""

from __future__ import annotations


class Latency:
    """Of answers, in milliseconds."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.count = 0
        self._sum_ms = 0
        self._max_ms = 0

    def add(self, latency_ms: int) -> None:
        self.count += 1
        self._sum_ms += latency_ms
        self._max_ms = max(self._max_ms, latency_ms)

    def metrics(self) -> dict[str, float]:
        if not self.count:
            return {}
        return {
            f"{self._name}-avg": self._sum_ms / self.count,
            f"{self._name}-max": self._max_ms,
        }


class GroupStatistics:
    """Since the consumer was made; Kafka's averages and maxima are those of the last minute."""

    def __init__(self) -> None:
        self.heartbeats = Latency("heartbeat-response-time")
        self.joins = Latency("join-time")
        self.syncs = Latency("sync-time")
        self.commits = Latency("commit-latency")
        self.rebalances = Latency("rebalance-latency")
        self.failed_rebalances = 0
        self._rebalancing_since_ms: int | None = None
        self._rebalanced_ms: int | None = None

    def rebalance_began(self, now_ms: int) -> None:
        """One that follows a failed one goes on with it."""
        if self._rebalancing_since_ms is None:
            self._rebalancing_since_ms = now_ms

    def rebalance_ended(self, now_ms: int) -> None:
        if self._rebalancing_since_ms is not None:
            self.rebalances.add(now_ms - self._rebalancing_since_ms)
        self._rebalancing_since_ms = None
        self._rebalanced_ms = now_ms

    def metrics(self, now_ms: int, heartbeat_sent_ms: int | None) -> dict[str, float]:
        """What never happened is told by no latency, and since -1 seconds."""
        return {
            **self.heartbeats.metrics(),
            **self.joins.metrics(),
            **self.syncs.metrics(),
            **self.commits.metrics(),
            **self.rebalances.metrics(),
            "heartbeat-total": self.heartbeats.count,
            "join-total": self.joins.count,
            "sync-total": self.syncs.count,
            "commit-total": self.commits.count,
            "rebalance-total": self.rebalances.count,
            "failed-rebalance-total": self.failed_rebalances,
            "last-heartbeat-seconds-ago": _since(heartbeat_sent_ms, now_ms),
            "last-rebalance-seconds-ago": _since(self._rebalanced_ms, now_ms),
        }


def _since(then_ms: int | None, now_ms: int) -> float:
    return -1.0 if then_ms is None else (now_ms - then_ms) // 1000
