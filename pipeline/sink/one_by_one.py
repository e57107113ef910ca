"""Rows handed over one by one, slowly: those that `encoding` finds unusual, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from logquake.client.producer.record import Headers
from logquake.pipeline.columns import US_PER_MS
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.deliveries import Deliveries
from logquake.pipeline.sink.task_clients import Sending
from logquake.wire.sentinels import NO_TIMESTAMP

if TYPE_CHECKING:
    import pyarrow as pa


class Row(NamedTuple):
    """What is to be written; topic, partition and time where the row names them."""

    topic: str | None = None
    partition: int | None = None
    key: bytes | None = None
    value: bytes | None = None
    headers: Headers = ()
    timestamp_ms: int | None = None


def send_one_by_one(
    producer: Sending, batch: pa.RecordBatch, topic: str | None, deliveries: Deliveries
) -> set[str]:
    """As `send_batches`."""
    topics: set[str] = set()
    for row in rows_of(batch):
        deliveries.check()
        wanted = row.topic if topic is None else topic
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


def rows_of(rows: pa.RecordBatch) -> Iterator[Row]:
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
