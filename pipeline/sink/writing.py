"""Rows of one task on their way to their topics, on an executor.

A task that Spark runs again has all of its rows again: here they are written at least once, in
exactly_once.py once. Within a task nothing is doubled (the producer is idempotent), and what goes
to one partition keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

from logquake.client.producer.delivery import RecordMetadata
from logquake.pipeline.columns import US_PER_MS
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.marks import Row
from logquake.pipeline.sink.task_clients import Sending
from logquake.wire.sentinels import NO_TIMESTAMP

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
    producer: Sending, batches: Iterable[pa.RecordBatch], topic: str | None
) -> None:
    """``topic`` goes before a row's own. Raises ClientError, OptionError."""
    deliveries = Deliveries()
    send_rows(producer, rows_of(batches), topic, deliveries)
    producer.flush()
    deliveries.check()


def send_rows(
    producer: Sending,
    rows: Iterable[Row],
    topic: str | None,
    deliveries: Deliveries,
) -> set[str]:
    """The topics that they go to. Raises ClientError, OptionError.

    Nothing is sent after a row that is known to have failed (KafkaRowWriter.checkForErrors): each
    to a topic that is not known would wait as long as the one before.
    """
    topics: set[str] = set()
    for row in rows:
        deliveries.check()
        wanted = topic or row.topic
        if wanted is None:
            raise OptionError("a row has no topic, and there is no option topic")
        topics.add(wanted)
        try:
            producer.send(
                wanted,
                row.value,
                row.key,
                partition=row.partition,
                timestamp_ms=row.timestamp_ms,
                headers=row.headers,
                on_delivery=deliveries.heard,
            )
        except ValueError as error:
            raise OptionError(f"a row of {wanted} cannot be written: {error}") from error
    return topics


class Deliveries:
    """Of what became of the records, the first failure is kept."""

    def __init__(self) -> None:
        self._failure: Exception | None = None

    def heard(self, _: RecordMetadata, error: Exception | None) -> None:
        self._failure = self._failure or error

    def check(self) -> None:
        """Raises what it was."""
        if self._failure is not None:
            raise self._failure


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
        pairs = _pairs(its_headers) if its_headers else ()
        yield Row(topic, partition, key, value, pairs, stamp)


def _pairs(headers: Sequence[Mapping[str, Any] | None]) -> tuple[tuple[str, bytes | None], ...]:
    pairs = tuple((header["key"], header["value"]) for header in headers if header is not None)
    if len(pairs) < len(headers) or any(key is None for key, _ in pairs):
        raise OptionError("a row has a header that is null, or has no key")
    return pairs


def _stamps(column: pa.Array) -> list[int | None]:
    import pyarrow as pa

    micros = column.cast(pa.timestamp("us", tz="UTC")).cast(pa.int64()).to_pylist()
    stamps = [None if each is None else each // US_PER_MS for each in micros]
    # A record of Kafka's first format has no time, and gets that of its writing.
    return [None if each == NO_TIMESTAMP else each for each in stamps]
