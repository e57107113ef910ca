"""Rows that are gathered as columns, to be taken as one Arrow batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH = 10_000
US_PER_MS = 1_000
LARGEST_MS = (1 << 63) // US_PER_MS - 1  # that is a number of microseconds


class Columns:
    """``schema`` has to be what Spark was told: it takes no other types."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[Sequence[Any]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Each with a value for every column, in their order."""
        self._rows += rows

    def take(self) -> pa.RecordBatch:
        import pyarrow as pa

        columns = zip(*self._rows, strict=True)
        self._rows = []
        arrays = [
            pa.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def arrow_type(of_spark: str) -> pa.DataType:
    """What Spark takes for one of its own simple types, by its name."""
    import pyarrow as pa

    return {
        "int": pa.int32(),
        "bigint": pa.int64(),
        "string": pa.string(),
        "binary": pa.binary(),
        "boolean": pa.bool_(),
        "timestamp": pa.timestamp("us", tz="UTC"),
    }[of_spark]
