"""A stream as Spark asks for it, batch by batch: spark.readStream.format("logquake").

Spark pickles it to the executors for each batch; what it remembers is of the driver's process.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from logquake.client import Consumer
from logquake.pipeline.asking import consuming
from logquake.pipeline.source.admission import (
    DataLossError,
    Document,
    admitted,
    available,
    from_document,
    losses,
    missed,
    to_document,
)
from logquake.pipeline.source.options import StreamOptions, parse_stream_options
from logquake.pipeline.source.planning import (
    OffsetRange,
    Offsets,
    beginnings,
    cut_ranges,
    ending_offsets,
    ranges_between,
    select,
    starting_offsets,
    what_is_there,
)
from logquake.pipeline.source.reading import read_range
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa

_WHAT = "planning a stream"


class LogquakeStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Every method raises BrokersError, and OptionError.

    What it is given is parsed when it is asked first: where making a stream's reader fails, Spark
    stops the one that it has not got, and tells of that instead.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = dict(given)
        self._first: Document | None = None
        self._moving: Collection[TopicPartition] = ()
        self._has_planned = False
        self._target: Offsets | None = None
        self._latest: Offsets = {}
        self._last_batch_s: float | None = None

    @cached_property
    def _options(self) -> StreamOptions:
        return parse_stream_options(self._given)

    def initialOffset(self) -> Document:  # noqa: N802  # Spark's name, as are those below
        """Spark asks each time that it needs it, and again of a query that begins anew with a first
        batch that is not through: in one process the answer is one. What is new each time, where
        logs end, is written into the checkpoint by a first batch that reads nothing there, as its
        end.
        """
        if self._first is None:
            read = self._options.read
            with consuming(read.consumer, _WHAT) as consumer:
                starts = starting_offsets(consumer, select(consumer, read), read)
            self._first = to_document(starts.offsets)
            self._moving = starts.moving
        return self._first

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.max_offsets:
            return ReadMaxRows(self._options.max_offsets)
        if self._options.min_offsets:
            return ReadMinRows(self._options.min_offsets)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        with consuming(self._options.read.consumer, _WHAT) as consumer:
            self._target = self._ends(consumer)

    def latestOffset(self, start: Document, limit: ReadLimit) -> Document:  # noqa: N802
        """Up to where the next batch reads; ``start`` itself where it is to wait."""
        is_first, self._has_planned = start == self._first and not self._has_planned, True
        with consuming(self._options.read.consumer, _WHAT) as consumer:
            ends = self._latest = self._ends(consumer) if self._target is None else self._target
            starts = self._with_new(consumer, from_document(start), ends)
        if is_first:
            ends = {at: starts[at] if at in self._moving else end for at, end in ends.items()}
        if start == self._first:  # which may be later than the target
            ends = {at: max(starts[at], end) for at, end in ends.items()}
        if isinstance(limit, ReadAllAvailable):
            return to_document(ends)
        if self._target is None and self._is_to_wait(starts, ends):
            return start
        self._last_batch_s = time.monotonic()
        if isinstance(limit, ReadMaxRows):
            ends = admitted(starts, ends, limit.max_rows)
        return to_document(ends)

    def reportLatestOffset(self) -> Document | None:  # noqa: N802
        """Where the partitions end: with what a batch has read, the lag of each in the progress."""
        return to_document(self._latest) if self._latest else None

    def partitions(self, start: Document, end: Document) -> list[InputPartition]:
        """As many each time that a batch is planned, whatever is gone meanwhile: what tasks have
        written is known by their numbers. Raises DataLossError.
        """
        starts, ends = from_document(start), from_document(end)
        if start == self._first and not self._has_planned:  # another process has
            starts = {at: min(starts.get(at, end), end) for at, end in ends.items()}
        with consuming(self._options.read.consumer, _WHAT) as consumer:
            earliest = beginnings(consumer, ends.keys())
        there = {at: ends[at] for at in earliest}
        lost = [*losses(starts, there, earliest), *missed(starts, earliest)]
        if lost and self._options.read.fail_on_data_loss:
            raise DataLossError.of(lost)
        planned = {at: starts.get(at, earliest.get(at, 0)) for at in ends}
        pieces = cut_ranges(ranges_between(planned, ends), self._options.read)
        return [InputPartition(what_is_there(piece, earliest)) for piece in pieces]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        wanted: OffsetRange = partition.value
        return read_range(self._options.read, wanted) if wanted.size else iter(())

    def _is_to_wait(self, starts: Offsets, ends: Offsets) -> bool:
        """Too few are there, and it is not yet long since the last batch."""
        few = available(starts, ends) < self._options.min_offsets
        if not few or self._last_batch_s is None:
            return False
        return time.monotonic() - self._last_batch_s < self._options.max_delay_ms / 1000

    def _ends(self, consumer: Consumer) -> Offsets:
        read = self._options.read
        return ending_offsets(consumer, select(consumer, read), read)

    @staticmethod
    def _with_new(consumer: Consumer, starts: Offsets, ends: Offsets) -> Offsets:
        """Partitions that came later are read from their beginning."""
        return {**consumer.beginning_offsets({*ends} - {*starts}), **starts}
