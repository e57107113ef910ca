"""Files as Spark reads them, wherever an executor can: a large one a task, small ones together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

from pyspark.sql.datasource import DataSourceReader, InputPartition

if TYPE_CHECKING:
    import pyarrow as pa

File = TypeVar("File")
# Of a cluster most files are empty or nearly so: a task each would be all that it does.
_BYTES_OF_A_TASK = 4 << 20


class FilesReader(DataSourceReader, Generic[File]):
    """``read`` gives a file's rows, ``size`` its bytes; they are pickled, as the files are."""

    def __init__(
        self,
        files: Iterable[File],
        read: Callable[[File], Iterator[pa.RecordBatch]],
        size: Callable[[File], int],
    ) -> None:
        self._files = tuple(files)
        self._read = read
        self._size = size

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(files) for files in packed(self._files, self._size)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where there is no file Spark asks once all the same, for a partition of no value.
        for file in partition.value or ():
            yield from self._read(file)


def packed(files: Iterable[File], size: Callable[[File], int]) -> Sequence[Sequence[File]]:
    """In their order."""
    tasks: list[list[File]] = []
    left = 0
    for file in files:
        taken = size(file)
        if not tasks or taken > left:
            tasks.append([])
            left = _BYTES_OF_A_TASK
        tasks[-1].append(file)
        left -= taken
    return tasks
