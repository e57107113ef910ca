"""The classes that Spark calls: format("logquake"); what reads a stream is in stream.py.

Spark pickles instances of these between the driver, the planner's Python process and the
executors: they hold options and ranges, never a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, Filter, InputPartition

from logquake.client import Consumer
from logquake.pipeline.asking import consuming
from logquake.pipeline.option_values import OptionError
from logquake.pipeline.options import (
    ReadOptions,
    columns_of,
    parse_options,
)
from logquake.pipeline.planning import OffsetRange, cut_ranges, later_ranges, plan_ranges
from logquake.pipeline.pushdown import Wanted, pushed
from logquake.pipeline.reading import read_range
from logquake.pipeline.record_columns import schema_of
from logquake.pipeline.sink import LogquakeStreamWriter, LogquakeWriter
from logquake.pipeline.stream import LogquakeStreamReader
from logquake.pipeline.write_options import WriteOptions, parse_write_options
from logquake.pipeline.writing import check_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType


class LogquakeDataSource(DataSource):
    """`spark.read.format("logquake")`. Raises OptionError for options it cannot serve."""

    @classmethod
    def name(cls) -> str:
        return "logquake"

    def schema(self) -> str:
        return schema_of(columns_of(self.options))

    def reader(self, schema: StructType) -> LogquakeReader:  # noqa: ARG002  # Spark's signature
        options = parse_options(self.options)
        return FilteringReader(options) if options.push_filters else LogquakeReader(options)

    def streamReader(self, schema: StructType) -> LogquakeStreamReader:  # noqa: ARG002, N802
        return LogquakeStreamReader(self.options)

    def writer(self, schema: StructType, overwrite: bool) -> LogquakeWriter:
        if overwrite:
            raise OptionError("a topic is not overwritten: mode append, or delete the topic first")
        return LogquakeWriter(self._write_options(schema))

    def streamWriter(  # noqa: N802
        self,
        schema: StructType,
        overwrite: bool,  # noqa: ARG002  # whatever the output mode, rows are appended
    ) -> LogquakeStreamWriter:
        return LogquakeStreamWriter(self._write_options(schema))

    def _write_options(self, schema: StructType) -> WriteOptions:
        options = parse_write_options(self.options)
        types = {field.name: field.dataType.simpleString() for field in schema.fields}
        check_columns(types, options.topic)
        return options


class LogquakeReader(DataSourceReader):
    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        with consuming(self._options.consumer, "planning a read") as consumer:
            ranges = self._ranges(consumer)
        return [InputPartition(wanted) for wanted in cut_ranges(ranges, self._options)]

    def _ranges(self, consumer: Consumer) -> Sequence[OffsetRange]:
        return plan_ranges(consumer, self._options)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where nothing is to be read Spark asks once all the same, for a partition of no value.
        return iter(()) if partition.value is None else read_range(self._options, partition.value)


class FilteringReader(LogquakeReader):
    """Reads only what the query's filters may let through.

    Its own class: Spark refuses a reader that takes filters where they are not enabled.
    """

    def __init__(self, options: ReadOptions) -> None:
        super().__init__(options)
        self._wanted = Wanted()

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802  # Spark's
        self._wanted, left = pushed(filters)
        return left

    def _ranges(self, consumer: Consumer) -> Sequence[OffsetRange]:
        ranges = list(self._wanted.narrowed(super()._ranges(consumer)))
        if self._wanted.since_ms is None:
            return ranges
        return later_ranges(consumer, ranges, self._wanted.since_ms)
