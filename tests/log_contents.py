"""What partitions of a running cluster hold, and records for them, by our own clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from logquake.client import Consumer, Producer
from logquake.client.sync.ranges import read_range
from logquake.cluster.observing.log_offsets import earliest_offsets, latest_offsets
from logquake.cluster.running.observed import ObservedCluster
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import PATIENCE_S

# What waits is sent by flush().
_TOGETHER = {
    "batch.size": 1_000_000,
    "linger.ms": 60_000,
    "delivery.timeout.ms": int(2000 * PATIENCE_S),
}


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


class Given(NamedTuple):
    """A record to be sent."""

    value: bytes | None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp_ms: int | None = None


def send_records(
    servers: str, topic: str, records: Iterable[Given], *, partition: int = 0, **keys: Any
) -> int:
    """All in one batch, if a megabyte holds them; the offset of the first."""
    with Producer({**_TOGETHER, "bootstrap.servers": servers}, **keys) as producer:
        sent = [
            producer.send(
                topic,
                each.value,
                each.key,
                partition=partition,
                headers=each.headers,
                timestamp_ms=each.timestamp_ms,
            )
            for each in records
        ]
        producer.flush()
        offsets = [each.result(PATIENCE_S).offset for each in sent]
        return min(offsets)


def send_batch(
    kafka: ObservedCluster, topic: str, *values: bytes, partition: int = 0, **keys: Any
) -> int:
    """As send_records()."""
    records = map(Given, values)
    return send_records(kafka.bootstrap_servers, topic, records, partition=partition, **keys)
