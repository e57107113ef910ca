"""A batch as Spark reads it: planned once, a range a task.

Spark pickles it between the planner's Python process and the executors: it holds options, never a
connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceReader, Filter, InputPartition

from logquake.client import Consumer
from logquake.pipeline.asking import consuming
from logquake.pipeline.source.options import ReadOptions
from logquake.pipeline.source.planning import OffsetRange, cut_ranges, later_ranges, plan_ranges
from logquake.pipeline.source.pushdown import Wanted, pushed
from logquake.pipeline.source.reading import read_range

if TYPE_CHECKING:
    import pyarrow as pa


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
