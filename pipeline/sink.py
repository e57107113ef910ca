"""The classes that Spark writes through: write and writeStream.format("logquake")."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from logquake.pipeline.write_options import WriteOptions
from logquake.pipeline.writing import write_rows

if TYPE_CHECKING:
    import pyarrow as pa


class LogquakeWriter(DataSourceArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Raises DeliveryError, ClientError, OptionError."""
        write_rows(self._options, iterator)
        return WriterCommitMessage()


class LogquakeStreamWriter(DataSourceStreamArrowWriter):
    def __init__(self, options: WriteOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """Raises DeliveryError, ClientError, OptionError."""
        write_rows(self._options, iterator)
        return WriterCommitMessage()

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """What tasks have written stands at once."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """What the tasks that went through have written stands, and is written again."""
