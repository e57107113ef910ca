"""Files as Spark reads them, wherever an executor can: one a task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, TypeVar

from pyspark.sql.datasource import DataSourceReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa

File = TypeVar("File")


class FilesReader(DataSourceReader, Generic[File]):
    """``read`` gives a file's rows; it is pickled, as the files are."""

    def __init__(
        self, files: Iterable[File], read: Callable[[File], Iterator[pa.RecordBatch]]
    ) -> None:
        self._files = tuple(files)
        self._read = read

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(file) for file in self._files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where there is no file Spark asks once all the same, for a partition of no value.
        return iter(()) if partition.value is None else self._read(partition.value)
