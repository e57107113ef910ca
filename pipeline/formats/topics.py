"""The class that Spark calls first: format("logquake")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.options import WriteOptions, parse_write_options
from logquake.pipeline.sink.writers import LogquakeStreamWriter, LogquakeWriter
from logquake.pipeline.sink.writing import check_columns
from logquake.pipeline.source.batch import FilteringReader, LogquakeReader
from logquake.pipeline.source.options import columns_of, parse_options
from logquake.pipeline.source.record_columns import schema_of
from logquake.pipeline.source.stream import LogquakeStreamReader

if TYPE_CHECKING:
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
