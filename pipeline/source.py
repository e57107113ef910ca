"""The classes that Spark calls: format("logquake"); what reads a stream is in stream.py.

Spark pickles instances of these between the driver, the planner's Python process and the
executors: they hold options and ranges, never a connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from logquake.client.routing import Router
from logquake.pipeline.options import (
    ReadOptions,
    parse_options,
    parse_stream_options,
    wants_headers,
)
from logquake.pipeline.planning import plan_ranges
from logquake.pipeline.reading import read_range
from logquake.pipeline.stream import LogquakeStreamReader

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, "
    "timestamp timestamp, timestampType int"
)
_HEADERS = ", headers array<struct<key: string, value: binary>>"


class LogquakeDataSource(DataSource):
    """`spark.read.format("logquake")`. Raises OptionError for options it cannot serve."""

    @classmethod
    def name(cls) -> str:
        return "logquake"

    def schema(self) -> str:
        return _SCHEMA + _HEADERS if wants_headers(self.options) else _SCHEMA

    def reader(self, schema: StructType) -> LogquakeReader:  # noqa: ARG002  # Spark's signature
        return LogquakeReader(parse_options(self.options))

    def streamReader(self, schema: StructType) -> LogquakeStreamReader:  # noqa: ARG002, N802
        return LogquakeStreamReader(parse_stream_options(self.options))


class LogquakeReader(DataSourceReader):
    def __init__(self, options: ReadOptions) -> None:
        self._options = options

    def partitions(self) -> list[InputPartition]:
        with Router(self._options.client) as router:
            return [InputPartition(wanted) for wanted in plan_ranges(router, self._options)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Where nothing is to be read Spark asks once all the same, for a partition of no value.
        return iter(()) if partition.value is None else read_range(self._options, partition.value)
