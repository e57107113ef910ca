"""Statistics of fetched and returned records, under Kafka's names (FetchMetricsManager,
KafkaConsumerMetrics).
"""

from __future__ import annotations

from collections import defaultdict

from logquake.client.measures import Measure

Groups = dict[str, dict[str, float]]
"""Metrics by group; for topics and partitions the key is the group, a colon, and the name."""

FETCHING = "consumer-fetch-manager-metrics"


class Tally:
    """Of one response, which counts once all its partitions' shares were returned or dropped."""

    def __init__(self, shares: int) -> None:
        self.shares = shares
        self.records = 0
        self.size_bytes = 0


class _Consumed:
    """Consumed in total, or of one topic."""

    def __init__(self) -> None:
        self._records = Measure("records-consumed")
        self._bytes = Measure("bytes-consumed")
        self._sizes = Measure("fetch-size")
        self._per_request = Measure("records-per-request")

    def add(self, records: int, size_bytes: int, now_ms: int) -> None:
        """Count one response."""
        self._records.add(records, now_ms)
        self._bytes.add(size_bytes, now_ms)
        self._sizes.add(size_bytes, now_ms)
        self._per_request.add(records, now_ms)

    def metrics(self, now_ms: int) -> dict[str, float]:
        return {
            **self._records.flow(now_ms),
            **self._bytes.flow(now_ms),
            **self._sizes.spread(now_ms),
            "records-per-request-avg": self._per_request.average(now_ms),
        }


class FetchStatistics:
    def __init__(self) -> None:
        self._all = _Consumed()
        self._topics: defaultdict[str, _Consumed] = defaultdict(_Consumed)
        self._fetches = Measure("fetch")
        self._latencies = Measure("fetch-latency")
        self._throttled = Measure("fetch-throttle-time")
        self._lags = Measure("records-lag")

    def answered(self, latency_ms: int, throttle_ms: int, now_ms: int) -> None:
        self._fetches.add(1, now_ms)
        self._latencies.add(latency_ms, now_ms)
        self._throttled.add(throttle_ms, now_ms)

    def handed_out(
        self, tally: Tally, topic: str, records: int, size_bytes: int, now_ms: int
    ) -> None:
        """All records of one partition's share were returned."""
        self._topics[topic].add(records, size_bytes, now_ms)
        tally.shares -= 1
        tally.records += records
        tally.size_bytes += size_bytes
        if not tally.shares:
            self._all.add(tally.records, tally.size_bytes, now_ms)

    def lagged(self, lag: int, now_ms: int) -> None:
        """Note the lag of a partition whose records were returned."""
        self._lags.add(lag, now_ms)

    def metrics(self, now_ms: int) -> Groups:
        groups = {
            FETCHING: {
                **self._all.metrics(now_ms),
                **self._fetches.flow(now_ms),
                **self._latencies.spread(now_ms),
                **self._throttled.spread(now_ms),
                "records-lag-max": self._lags.spread(now_ms)["records-lag-max"],
            }
        }
        for name, topic in self._topics.items():
            groups[f"{FETCHING}:{name}"] = topic.metrics(now_ms)
        return groups


class PollStatistics:
    """How often the program polls."""

    def __init__(self) -> None:
        self._between = Measure("time-between-poll")
        self._last_ms: int | None = None

    def polled(self, now_ms: int) -> None:
        if self._last_ms is not None:
            self._between.add(now_ms - self._last_ms, now_ms)
        self._last_ms = now_ms

    def metrics(self, now_ms: int) -> dict[str, float]:
        """For events that never happened, the seconds since are -1."""
        since = -1.0 if self._last_ms is None else (now_ms - self._last_ms) // 1000
        return {**self._between.spread(now_ms), "last-poll-seconds-ago": since}
