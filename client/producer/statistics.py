"""A sender's statistics under Kafka's names (SenderMetricsRegistry), and why things failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple

from logquake.client.measures import Measure
from logquake.client.producer.batch import ProducerBatch
from logquake.wire.topic_partition import TopicPartition

Groups = dict[str, dict[str, float]]
"""Metrics by their group, those of a topic by "producer-topic-metrics:" and its name."""


class EventKind(Enum):
    RETRIED = "retried"
    SPLIT = "split"
    FAILED = "failed"


class ProducerEvent(NamedTuple):
    """Something that happened to a batch, and the error that caused it."""

    kind: EventKind
    place: TopicPartition
    records: int
    cause: str


class TopicStatistics:
    def __init__(self) -> None:
        self.records = Measure("record-send")
        self.bytes = Measure("byte")
        self.ratios = Measure("compression-rate")
        self.retries = Measure("record-retry")
        self.errors = Measure("record-error")

    def metrics(self, now_ms: int) -> dict[str, float]:
        return {
            **self.records.flow(now_ms),
            **self.bytes.flow(now_ms),
            **self.retries.flow(now_ms),
            **self.errors.flow(now_ms),
            "compression-rate": self.ratios.average(now_ms),
        }


class SenderStatistics:
    """``on_event`` is called for retries, splits and failures; by default nothing is."""

    def __init__(self) -> None:
        self.on_event: Callable[[ProducerEvent], None] = lambda _: None
        self._records = Measure("record-send")
        self._per_request = Measure("records-per-request")
        self._batches = Measure("batch-size")
        self._ratios = Measure("compression-rate")
        self._queued = Measure("record-queue-time")
        self._latencies = Measure("request-latency")
        self._throttled = Measure("produce-throttle-time")
        self._record_sizes = Measure("record-size")
        self._largest_records = Measure("record-size")
        self._retries = Measure("record-retry")
        self._errors = Measure("record-error")
        self._splits = Measure("batch-split")
        self._topics: dict[str, TopicStatistics] = {}

    def sent(self, batches: Sequence[ProducerBatch], now_ms: int) -> None:
        """Count the batches of one request."""
        records = 0
        for batch in batches:
            topic = self._topic(batch.place.topic)
            size, count = batch.estimated_bytes, batch.count
            topic.records.add(count, now_ms)
            topic.bytes.add(size, now_ms)
            topic.ratios.add(batch.ratio, now_ms)
            self._batches.add(size, now_ms)
            self._ratios.add(batch.ratio, now_ms)
            self._queued.add(now_ms - batch.created_ms, now_ms)
            self._record_sizes.add(batch.plain_bytes / count, now_ms)
            self._largest_records.add(batch.largest_bytes, now_ms)
            records += count
        self._records.add(records, now_ms)
        self._per_request.add(records, now_ms)

    def answered(self, latency_ms: int, throttle_ms: int, now_ms: int) -> None:
        self._latencies.add(latency_ms, now_ms)
        self._throttled.add(throttle_ms, now_ms)

    def retried(self, batch: ProducerBatch, cause: object, now_ms: int) -> None:
        self._retries.add(batch.count, now_ms)
        self._topic(batch.place.topic).retries.add(batch.count, now_ms)
        self._tell(EventKind.RETRIED, batch, cause)

    def split(self, batch: ProducerBatch, cause: object, now_ms: int) -> None:
        self._splits.add(1, now_ms)
        self._tell(EventKind.SPLIT, batch, cause)

    def failed(self, batch: ProducerBatch, cause: object, now_ms: int) -> None:
        self._errors.add(batch.count, now_ms)
        self._topic(batch.place.topic).errors.add(batch.count, now_ms)
        self._tell(EventKind.FAILED, batch, cause)

    def metrics(self, now_ms: int) -> Groups:
        groups = {"producer-metrics": self._all(now_ms)}
        for name, topic in self._topics.items():
            groups[f"producer-topic-metrics:{name}"] = topic.metrics(now_ms)
        return groups

    def _all(self, now_ms: int) -> dict[str, float]:
        told: dict[str, float] = {
            "records-per-request-avg": self._per_request.average(now_ms),
            "compression-rate-avg": self._ratios.average(now_ms),
            "record-size-avg": self._record_sizes.average(now_ms),
            "record-size-max": self._largest_records.most(now_ms),
        }
        for flow in (self._records, self._retries, self._errors, self._splits):
            told |= flow.flow(now_ms)
        for spread in (self._batches, self._queued, self._latencies, self._throttled):
            told |= spread.spread(now_ms)
        return told

    def _topic(self, name: str) -> TopicStatistics:
        topic = self._topics.get(name)
        if topic is None:
            topic = self._topics[name] = TopicStatistics()
        return topic

    def _tell(self, kind: EventKind, batch: ProducerBatch, cause: object) -> None:
        self.on_event(ProducerEvent(kind, batch.place, batch.count, str(cause)))
