"""Rows that are gathered as columns, to be taken as one Arrow batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_PER_BATCH = 10_000
US_PER_MS = 1_000


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
