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

import numpy as np
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
JSON_COLUMNS = ("before", "after")
ROWS_OF_A_GROUP = 1 << 16


def write_parquet(rows: Iterable[Row], path: Path) -> int:
    """How many rows there were. One row group is in memory; the file is there once it is whole."""
    return write_columns(groups_of(rows), path)


def write_columns(batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """The same of batches of SCHEMA, each of which becomes a row group."""
    unfinished = path.with_name(f"{path.name}.part")
    count = 0
    with pq.ParquetWriter(unfinished, SCHEMA, compression="zstd") as file:
        for batch in batches:
            file.write_batch(batch)
            count += len(batch)
    unfinished.replace(path)
    return count


def table_of(rows: Iterable[Row]) -> pa.Table:
    """All of them in memory."""
    return pa.Table.from_batches(groups_of(rows), schema=SCHEMA)


def write_by_time(tables: Iterable[pa.Table], path: Path) -> None:
    """What is in memory, in the order of time; of one time in the order in which it is given."""
    table = pa.concat_tables(tables)
    order = np.argsort(table.column("at_us").to_numpy(), kind="stable")
    write_columns(table.take(order).to_batches(ROWS_OF_A_GROUP), path)


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
        for group in range(file.num_row_groups):
            # A group is too small to be worth several threads.
            table = file.read_row_group(group, columns=list(names), use_threads=False)
            yield from table.to_batches()


def batches_of(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    """Rows as ``read_columns`` has them."""
    return map(with_dictionaries, groups_of(rows))


def with_dictionaries(batch: pa.RecordBatch) -> pa.RecordBatch:
    """A batch of SCHEMA as ``read_columns`` has it."""
    for name in _REPEATED:
        at = batch.schema.get_field_index(name)
        batch = batch.set_column(at, name, batch.column(at).dictionary_encode())
    return batch


def groups_of(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    rows = iter(rows)
    while group := list(islice(rows, ROWS_OF_A_GROUP)):
        yield batch_of(group)


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    columns = zip(SCHEMA, zip(*rows, strict=True), strict=True)
    return pa.record_batch([array_of(field, values) for field, values in columns], schema=SCHEMA)


def array_of(field: pa.Field, values: Sequence[Any]) -> pa.Array:
    """A column of SCHEMA, of what rows have in that field."""
    if field.name in JSON_COLUMNS:
        values = [None if value is None else json.dumps(value) for value in values]
    return pa.array(values, field.type)


def _values(name: str, column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if name in JSON_COLUMNS:
        return [None if value is None else json.loads(value) for value in values]
    return values
