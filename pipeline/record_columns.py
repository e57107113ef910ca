"""The columns of a record: the connector's, in its order, and how each is had of stored batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from logquake.client.cursor import ReadBatch
from logquake.pipeline.columns import US_PER_MS, arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


class Column(NamedTuple):
    """``of_spark`` is its type, ``values`` of a batch; None where they are the partition's."""

    of_spark: str
    values: Callable[[ReadBatch], list[Any]] | None = None


HEADERS = "headers"
COLUMNS = {
    "key": Column("binary", lambda batch: [record.key for record in batch.records]),
    "value": Column("binary", lambda batch: [record.value for record in batch.records]),
    "topic": Column("string"),
    "partition": Column("int"),
    "offset": Column("bigint", lambda batch: [record.offset for record in batch.records]),
    "timestamp": Column(
        "timestamp", lambda batch: [one.timestamp_ms * US_PER_MS for one in batch.records]
    ),
    "timestampType": Column(
        "int", lambda batch: [int(batch.header.is_log_append_time)] * len(batch.records)
    ),
    HEADERS: Column(
        "array<struct<key: string, value: binary>>",
        lambda batch: [
            [{"key": key, "value": value} for key, value in record.headers] or None
            for record in batch.records
        ],
    ),
}
USUAL = tuple(name for name in COLUMNS if name != HEADERS)


def schema_of(names: Sequence[str]) -> str:
    """As Spark takes it."""
    return ", ".join(f"{name} {COLUMNS[name].of_spark}" for name in names)


class Rows:
    """Columns that grow by stored batches and are taken as one Arrow batch."""

    def __init__(self, topic: str, partition: int, names: Sequence[str]) -> None:
        self._names = names
        self._of_all = {"topic": topic, "partition": partition}
        self._clear()

    def __len__(self) -> int:
        return self._count

    def add(self, batch: ReadBatch) -> None:
        self._count += len(batch.records)
        for values, gathered in self._gathered:
            gathered += values(batch)

    def take(self) -> pa.RecordBatch:
        import pyarrow as pa

        types = _arrow_types()
        gathered = iter(self._gathered)
        arrays = [
            pa.repeat(pa.scalar(self._of_all[name], types[name]), self._count)
            if name in self._of_all
            else pa.array(next(gathered)[1], types[name])
            for name in self._names
        ]
        self._clear()
        return pa.RecordBatch.from_arrays(arrays, names=list(self._names))

    def _clear(self) -> None:
        self._count = 0
        read = (COLUMNS[name].values for name in self._names)
        self._gathered: list[tuple[Callable[[ReadBatch], list[Any]], list[Any]]] = [
            (values, []) for values in read if values is not None
        ]


def _arrow_types() -> dict[str, pa.DataType]:
    import pyarrow as pa

    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    simple = {name: column.of_spark for name, column in COLUMNS.items() if name != HEADERS}
    return {name: arrow_type(kind) for name, kind in simple.items()} | {HEADERS: pa.list_(header)}
