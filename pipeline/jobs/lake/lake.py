"""Topics into a lake, batch by batch, until it has all that was there when the job began."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from logquake.pipeline.jobs.lake.compacting import CompactionSettings, Merge, merges
from logquake.pipeline.jobs.lake.ledger import Decision, LakeError, Ledger
from logquake.pipeline.jobs.lake.planning import look, next_ranges
from logquake.pipeline.jobs.lake.shape import LAYOUT, Shape
from logquake.pipeline.jobs.lake.staged import (
    after,
    check_same_rows,
    files_at,
    layout_of,
    moves_of,
    staged_files,
)
from logquake.pipeline.jobs.lake.state import LakeState
from logquake.pipeline.jobs.topic_arguments import of_partitions
from logquake.pipeline.source.admission import to_document
from logquake.pipeline.source.options import ReadOptions, parse_options
from logquake.pipeline.source.planning import OffsetRange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class LakeSettings:
    # What the source is told: kafka.bootstrap.servers, subscribe or subscribePattern, and what
    # else docs/spark.md has for a batch, but for where it begins and ends. Records that are gone
    # before they were read end the job; with failOnDataLoss=false it goes on, and counts them.
    source: Mapping[str, str]
    shape: Shape = field(default_factory=Shape)
    # Of all partitions together. More makes larger files, and more work to do again after a crash.
    batch_records: int = 1_000_000
    compaction: CompactionSettings = field(default_factory=CompactionSettings)


class Lake:
    """Raises LakeError, OptionError, BrokersError, DataLossError, and what Spark does."""

    def __init__(self, spark: SparkSession, settings: LakeSettings, ledger: Ledger) -> None:
        self._spark = spark
        self._settings = settings
        self._ledger = ledger

    def fill(self) -> LakeState:
        """All that is there now, then small files are merged; how far the lake is."""
        self._settings.shape.check()
        state = self._ledger.recover() or LakeState(self._settings.shape.name)
        if state.shape != self._settings.shape.name:
            raise LakeError(f"its rows are {state.shape}, not {self._settings.shape.name}")
        logs = look(self._read)
        most = self._settings.batch_records
        while ranges := next_ranges(state, logs, most, self._read):
            state = self._put(state, ranges)
        for merge in merges(self._ledger.root, self._settings.compaction):
            state = self._merge(state, merge)
        return state

    @cached_property
    def _read(self) -> ReadOptions:
        return parse_options(self._settings.source)

    def _put(self, state: LakeState, ranges: Sequence[OffsetRange]) -> LakeState:
        self._stage(self._settings.shape.rows(self._records(ranges)))
        files = staged_files(self._ledger.staging, self._settings.shape)
        then = after(state, ranges, files)
        self._ledger.put(Decision(then, moves_of(files, self._ledger.root, then.batch)))
        return then

    def _records(self, ranges: Sequence[OffsetRange]) -> DataFrame:
        source = of_partitions(self._settings.source, [one.place for one in ranges])
        source["includeHeaders"] = "true"
        return self._spark.read.format("logquake").options(**source, **_between(ranges)).load()

    def _merge(self, state: LakeState, merge: Merge) -> LakeState:
        from pyspark.sql import functions

        root, shape = self._ledger.root, self._settings.shape
        rows = self._spark.read.parquet(*map(str, merge.files))
        for name, value in layout_of(merge.files[0].parent.relative_to(root)).items():
            rows = rows.withColumn(name, functions.lit(value))
        self._stage(rows.repartitionByRange(merge.pieces, shape.partition, shape.offset))
        files = staged_files(self._ledger.staging, shape)
        check_same_rows(files_at(merge.files, root, shape), files)
        then = replace(state, batch=state.batch + 1)
        gone = [str(path.relative_to(root)) for path in merge.files]
        self._ledger.put(Decision(then, moves_of(files, root, then.batch), gone))
        return then

    def _stage(self, rows: DataFrame) -> None:
        """In a file rows are in order, partition by partition."""
        shape = self._settings.shape
        in_order = rows.sortWithinPartitions(*LAYOUT, shape.partition, shape.offset)
        in_order.write.partitionBy(*LAYOUT).parquet(str(self._ledger.staging))


def _between(ranges: Sequence[OffsetRange]) -> dict[str, str]:
    """What the source is told, to read them."""
    return {
        "startingOffsets": json.dumps(to_document({one.place: one.start for one in ranges})),
        "endingOffsets": json.dumps(to_document({one.place: one.end for one in ranges})),
    }
