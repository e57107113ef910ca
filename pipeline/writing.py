"""Rows of one task written to their topics, on an executor: at least once.

A task that Spark runs again writes all of its rows again. Within a task nothing is doubled (the
producer is idempotent), and what goes to one partition keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any

from logquake.client.producer import Producer, ProducerRecord
from logquake.client.producer.partitioning import partition_for
from logquake.client.routing import Router
from logquake.pipeline.columns import US_PER_MS
from logquake.pipeline.option_values import OptionError
from logquake.pipeline.write_options import WriteOptions
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = ("string", "binary")
TYPES = {
    "key": TEXT,
    "value": TEXT,
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp",),
    "headers": ("array<struct<key:string,value:binary>>",),
}


def check_columns(types: Mapping[str, str], topic: str | None) -> None:
    """``types`` as Spark names them, by column. Raises OptionError."""
    if "value" not in types:
        raise OptionError("a column value is needed, of binary or string")
    if topic is None and "topic" not in types:
        raise OptionError("a topic is needed: an option, or a column of that name")
    for name, allowed in TYPES.items():
        if name in types and types[name] not in allowed:
            raise OptionError(
                f"column {name} is {types[name]}, and has to be {' or '.join(allowed)}"
            )


def write_rows(options: WriteOptions, batches: Iterable[pa.RecordBatch]) -> int:
    """How many there were. Raises DeliveryError, ClientError, OptionError."""
    with Router(options.client) as router:
        writing = _Writing(router, options)
        for batch in batches:
            writing.add(batch)
        writing.flush()
    return writing.count


@dataclass(slots=True)
class _Batch:
    records: list[ProducerRecord] = field(default_factory=list)
    size: int = 0  # bytes of keys and values

    def add(self, record: ProducerRecord) -> None:
        self.records.append(record)
        self.size += len(record.key or b"") + len(record.value or b"")


class _Writing:
    def __init__(self, router: Router, options: WriteOptions) -> None:
        self.count = 0
        self._router = router
        self._options = options
        self._producer = Producer(router, options.producer)
        self._batches: dict[TopicPartition, _Batch] = {}
        self._partitions: dict[str, list[int]] = {}
        self._turns: dict[str, int] = {}  # whose turn it is, of records that have no key

    def add(self, rows: pa.RecordBatch) -> None:
        for topic, partition, record in _records(rows):
            wanted = self._options.topic or topic
            if wanted is None:
                raise OptionError("a row has no topic, and there is no option topic")
            self._add_one(wanted, partition, record)

    def flush(self) -> None:
        for place in sorted(self._batches):
            self._send(place)

    def _add_one(self, topic: str, partition: int | None, record: ProducerRecord) -> None:
        place = TopicPartition(topic, self._choose(topic, record.key, partition))
        batch = self._batches.setdefault(place, _Batch())
        batch.add(record)
        self.count += 1
        if batch.size >= self._options.batch_bytes:
            self._send(place)
            self._turns[topic] = self._turns.get(topic, 0) + 1

    def _choose(self, topic: str, key: bytes | None, partition: int | None) -> int:
        """As Kafka's producer: as told, by the key, or batch by batch in turn."""
        if partition is not None:
            return partition
        if topic not in self._partitions:
            known = self._router.with_retries(lambda: self._router.partitions(topic))
            self._partitions[topic] = sorted(known)
        partitions = self._partitions[topic]
        if key is not None:
            return partitions[partition_for(key, len(partitions))]
        return partitions[self._turns.get(topic, 0) % len(partitions)]

    def _send(self, place: TopicPartition) -> None:
        batch = self._batches.pop(place)
        self._producer.send(*place, batch.records)


def _records(rows: pa.RecordBatch) -> Iterator[tuple[str | None, int | None, ProducerRecord]]:
    """Topic and partition where rows have them, and what is to be written there."""
    import pyarrow as pa

    there = set(rows.schema.names)

    def values(name: str, kind: pa.DataType) -> Iterable[Any]:
        return rows.column(name).cast(kind).to_pylist() if name in there else repeat(None)

    keys, payloads = values("key", pa.binary()), values("value", pa.binary())
    stamps = _stamps(rows.column("timestamp")) if "timestamp" in there else repeat(None)
    headers = rows.column("headers").to_pylist() if "headers" in there else repeat(None)
    topics, partitions = values("topic", pa.string()), values("partition", pa.int32())
    for topic, partition, key, value, its_headers, stamp in zip(
        topics, partitions, keys, payloads, headers, stamps, strict=False
    ):
        pairs = tuple((header["key"], header["value"]) for header in its_headers or ())
        yield topic, partition, ProducerRecord(key, value, pairs, stamp)


def _stamps(column: pa.Array) -> list[int | None]:
    import pyarrow as pa

    micros = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_pylist()
    return [None if each is None else each // US_PER_MS for each in micros]
