"""A history as one Parquet file, for columns at a time: checkers of millions of rows, and Spark.

The columns are a row's fields; before and after are JSON as text. Row groups follow each other in
the order in which the rows were given.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from logquake.chaos.history.rows import Row

SCHEMA = pa.schema(
    [
        pa.field("at_us", pa.int64(), nullable=False),
        pa.field("process", pa.string(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("what", pa.string(), nullable=False),
        pa.field("subject", pa.string(), nullable=False),
        pa.field("epoch", pa.int64()),
        pa.field("offset", pa.int64()),
        pa.field("value", pa.int64()),
        pa.field("values", pa.list_(pa.int64())),
        pa.field("key", pa.string()),
        pa.field("group", pa.string()),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
        pa.field("why", pa.string()),
        pa.field("caused_by", pa.int64()),
    ]
)
# Read as numbers of a dictionary: comparing those is what makes a pass over a column cheap.
_REPEATED = ("process", "what", "subject", "key", "group", "why")
_JSON = ("before", "after")
ROWS_OF_A_GROUP = 1 << 16


def write_parquet(rows: Iterable[Row], path: Path) -> int:
    """How many rows there were. One row group is in memory; the file is there once it is whole."""
    unfinished = path.with_name(f"{path.name}.part")
    rows, count = iter(rows), 0
    with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as file:
        while group := list(islice(rows, ROWS_OF_A_GROUP)):
            file.write_batch(_batch(group))
            count += len(group)
    unfinished.replace(path)
    return count


def read_parquet(path: Path) -> Iterator[Row]:
    """The rows in the file's order. One row group is in memory."""
    for batch in read_columns(path):
        yield from rows_of(batch)


def rows_of(batch: pa.RecordBatch) -> Iterator[Row]:
    """Of a batch of all columns."""
    columns = [_values(name, batch.column(name)) for name in SCHEMA.names]
    return map(Row._make, zip(*columns, strict=True))


def read_columns(path: Path, names: Sequence[str] = SCHEMA.names) -> Iterator[pa.RecordBatch]:
    """These columns, or all, a row group at a time; names and the like are dictionaries."""
    with pq.ParquetFile(path, read_dictionary=list(_REPEATED)) as file:
        yield from file.iter_batches(ROWS_OF_A_GROUP, columns=list(names))


def in_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Rows that are in memory as ``read_columns`` has them."""
    for name in _REPEATED:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table.column(name).dictionary_encode())
    yield from table.to_batches(ROWS_OF_A_GROUP)


def _batch(rows: list[Row]) -> pa.RecordBatch:
    columns = zip(SCHEMA, zip(*rows, strict=True), strict=True)
    return pa.record_batch([_array(field, values) for field, values in columns], schema=SCHEMA)


def _array(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    if field.name in _JSON:
        values = [None if value is None else json.dumps(value) for value in values]
    return pa.array(values, field.type)


def _values(name: str, column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if name in _JSON:
        return [None if value is None else json.loads(value) for value in values]
    return values
