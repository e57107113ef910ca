"""What Spark hands over, as rows of topics: of the columns that the sink knows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from logquake.pipeline.columns import US_PER_MS
from logquake.pipeline.sink.encoding.cells import Cells
from logquake.pipeline.sink.encoding.numbers import Numbers
from logquake.pipeline.sink.encoding.rows import ANY_PARTITION, ColumnRows
from logquake.pipeline.sink.encoding.run import contents_of
from logquake.wire.sentinels import NO_TIMESTAMP


class UnusualError(Exception):
    """Some row is not as nearly all are: they have to be handed over one by one."""


UNUSUAL = (UnusualError, pa.ArrowInvalid, pa.ArrowCapacityError)


def rows_by_topic(batch: pa.RecordBatch, topic: str | None) -> Iterator[tuple[str, ColumnRows]]:
    """``topic`` goes before a row's own; those of each are in their order.

    Raises what UNUSUAL lists, before anything else: for rows that have headers or no topic, for
    what cannot be sent (a partition or a time below 0), and for more than Arrow has in a column.
    """
    there = set(batch.schema.names)
    if "headers" in there and _has_any(batch.column("headers")):
        raise UnusualError
    values = Cells.of(batch.column("value"))
    keys = Cells.of(batch.column("key") if "key" in there else pa.nulls(len(values), pa.binary()))
    contents = contents_of(keys, values)
    rows = ColumnRows(keys, contents, _partitions(batch, there), _times_ms(batch, there))
    return _of_several(_topics(batch, there), rows) if topic is None else _of_one(topic, rows)


def _has_any(lists: pa.Array) -> bool:
    return bool(pc.any(pc.greater(pc.list_value_length(lists), 0)).as_py())


def _of_one(topic: str, rows: ColumnRows) -> Iterator[tuple[str, ColumnRows]]:
    if len(rows):
        yield topic, rows


def _of_several(topics: pa.DictionaryArray, rows: ColumnRows) -> Iterator[tuple[str, ColumnRows]]:
    numbers = topics.indices.to_numpy()
    for number, topic in enumerate(topics.dictionary.to_pylist()):
        yield topic, rows.take(np.flatnonzero(numbers == number))


def _topics(batch: pa.RecordBatch, there: set[str]) -> pa.DictionaryArray:
    if "topic" not in there or batch.column("topic").null_count:
        raise UnusualError
    return batch.column("topic").dictionary_encode()


def _partitions(batch: pa.RecordBatch, there: set[str]) -> Numbers:
    if "partition" not in there:
        return np.full(batch.num_rows, ANY_PARTITION, np.int64)
    column = batch.column("partition").cast(pa.int64())
    if pc.any(pc.less(column, 0)).as_py():
        raise UnusualError
    return _numpy(column.fill_null(ANY_PARTITION))


def _times_ms(batch: pa.RecordBatch, there: set[str]) -> Numbers:
    """A record of Kafka's first format has no time, as here those that have none."""
    if "timestamp" not in there:
        return np.full(batch.num_rows, NO_TIMESTAMP, np.int64)
    column = batch.column("timestamp").cast(pa.timestamp("us", tz="UTC")).cast(pa.int64())
    times_ms = _numpy(column.fill_null(NO_TIMESTAMP * US_PER_MS)) // US_PER_MS
    if (times_ms < NO_TIMESTAMP).any():
        raise UnusualError
    return times_ms


def _numpy(column: pa.Array) -> Numbers:
    numbers: Numbers = column.to_numpy(zero_copy_only=False)
    return numbers
