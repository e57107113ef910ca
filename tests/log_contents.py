"""What partitions of a running cluster hold, and records for them, by our own clients."""

from __future__ import annotations

from typing import Any

from logquake.client import Consumer, Producer
from logquake.client.ranges import read_range
from logquake.cluster.observing.log_offsets import earliest_offsets, latest_offsets
from logquake.cluster.running.observed import ObservedCluster
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import PATIENCE_S

_TOGETHER_MS = 60_000  # until flush(), which sends them


def bounds(kafka: ObservedCluster, topic: str, partition: int = 0) -> tuple[int, int]:
    """Log start and high watermark."""
    with kafka.admin(PATIENCE_S) as admin:
        low, high = earliest_offsets(admin, topic), latest_offsets(admin, topic)
    return low[partition], high[partition]


def records_in(
    kafka: ObservedCluster,
    topic: str,
    partition: int = 0,
    *,
    start: int = 0,
    end: int | None = None,
    **keys: Any,
) -> list[Record]:
    """From ``start`` to ``end``, which by default is the high watermark."""
    place = TopicPartition(topic, partition)
    with Consumer({"auto.offset.reset": "none", **kafka.kafka_config()}, **keys) as consumer:
        stop = consumer.end_offsets([place])[place] if end is None else end
        batches = read_range(consumer, place, start, stop)
        return [record for batch in batches for record in batch.records]


def send_batch(
    kafka: ObservedCluster, topic: str, *values: bytes, partition: int = 0, **keys: Any
) -> int:
    """All in one batch; the offset of the first."""
    config = {"linger.ms": _TOGETHER_MS, "delivery.timeout.ms": int(2000 * PATIENCE_S)}
    with Producer({**config, **kafka.kafka_config()}, **keys) as producer:
        sent = [producer.send(topic, value, partition=partition) for value in values]
        producer.flush()
        return sent[0].result(PATIENCE_S).offset
