"""Rows of one task on their way to their topics, on an executor.

A task that Spark runs again has all of its rows again: here they are written at least once, in
exactly_once.py once. Within a task nothing is doubled (the producer is idempotent), and what goes
to one partition keeps its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, Any

from logquake.client.producer import Producer, ProducerRecord
from logquake.client.producer.partitioning import partition_for
from logquake.client.routing import Router
from logquake.pipeline.columns import US_PER_MS
from logquake.pipeline.marks import Row
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


def write_at_least_once(
    router: Router, options: WriteOptions, batches: Iterable[pa.RecordBatch]
) -> None:
    """Raises DeliveryError, ClientError, OptionError."""
    writing = Writing(router, options, Producer(router, options.producer).send)
    writing.add(rows_of(batches))
    writing.flush()


@dataclass(slots=True)
class _Batch:
    records: list[ProducerRecord] = field(default_factory=list)
    size: int = 0  # bytes of keys and values

    def add(self, record: ProducerRecord) -> None:
        self.records.append(record)
        self.size += len(record.key or b"") + len(record.value or b"")


class Writing:
    """Gathers rows by partition; ``send`` writes a partition's batch and returns once it is."""

    def __init__(
        self,
        router: Router,
        options: WriteOptions,
        send: Callable[[str, int, list[ProducerRecord]], object],
    ) -> None:
        self.topics: set[str] = set()  # that were written to
        self._router = router
        self._options = options
        self._send = send
        self._batches: dict[TopicPartition, _Batch] = {}
        self._partitions: dict[str, list[int]] = {}
        self._turns: dict[str, int] = {}  # whose turn it is, of records that have no key

    def add(self, rows: Iterable[Row]) -> None:
        for topic, partition, record in rows:
            wanted = self._options.topic or topic
            if wanted is None:
                raise OptionError("a row has no topic, and there is no option topic")
            self._add_one(wanted, partition, record)

    def flush(self) -> None:
        for place in sorted(self._batches):
            self._send_batch(place)

    def _add_one(self, topic: str, partition: int | None, record: ProducerRecord) -> None:
        place = TopicPartition(topic, self._choose(topic, record.key, partition))
        batch = self._batches.setdefault(place, _Batch())
        batch.add(record)
        if batch.size >= self._options.batch_bytes:
            self._send_batch(place)
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

    def _send_batch(self, place: TopicPartition) -> None:
        self.topics.add(place.topic)
        self._send(*place, self._batches.pop(place).records)


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        yield from _rows(batch)


def _rows(rows: pa.RecordBatch) -> Iterator[Row]:
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
        yield Row(topic, partition, ProducerRecord(key, value, pairs, stamp))


def _stamps(column: pa.Array) -> list[int | None]:
    import pyarrow as pa

    micros = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_pylist()
    return [None if each is None else each // US_PER_MS for each in micros]
