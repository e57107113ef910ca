"""A stream as Spark asks for it, batch by batch: spark.readStream.format("logquake").

Spark pickles it to the executors for each batch; what it remembers is of the driver's process.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)

from logquake.client.routing import Router
from logquake.pipeline.admission import (
    DataLossError,
    Document,
    admitted,
    available,
    from_document,
    losses,
    to_document,
)
from logquake.pipeline.asking import asking
from logquake.pipeline.options import Bound, StreamOptions
from logquake.pipeline.planning import Offsets, cut_ranges, ranges_between, resolve, select
from logquake.pipeline.reading import read_range
from logquake.wire.sentinels import EARLIEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    import pyarrow as pa

_WHAT = "planning a stream"


class LogquakeStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Every method raises BrokersError."""

    def __init__(self, options: StreamOptions) -> None:
        self._options = options
        self._target: Offsets | None = None
        self._latest: Offsets = {}
        self._last_batch_s: float | None = None

    def initialOffset(self) -> Document:  # noqa: N802  # Spark's name, as are those below
        read = self._options.read
        with asking(read.client, _WHAT) as router:
            selected = select(router, read)
            return to_document(resolve(router, selected, read.starting, read, is_start=True))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        if self._options.max_offsets:
            return ReadMaxRows(self._options.max_offsets)
        if self._options.min_offsets:
            return ReadMinRows(self._options.min_offsets)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        with asking(self._options.read.client, _WHAT) as router:
            self._target = self._ends(router)

    def latestOffset(self, start: Document, limit: ReadLimit) -> Document:  # noqa: N802
        """Up to where the next batch reads; ``start`` itself where it is to wait."""
        with asking(self._options.read.client, _WHAT) as router:
            ends = self._latest = self._ends(router) if self._target is None else self._target
            starts = self._with_new(router, from_document(start), ends)
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
        """Raises DataLossError."""
        starts, ends = from_document(start), from_document(end)
        with asking(self._options.read.client, _WHAT) as router:
            earliest = self._earliest(router, {*starts, *ends} & {*ends})
        lost = list(losses(starts, ends, earliest))
        if lost and self._options.read.fail_on_data_loss:
            raise DataLossError(f"{'; '.join(lost)} (failOnDataLoss=false goes on without)")
        begun = {at: max(starts.get(at, 0), earliest.get(at, 0)) for at in ends}
        ranges = cut_ranges(ranges_between(begun, ends), self._options.read)
        return [InputPartition(wanted) for wanted in ranges]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return read_range(self._options.read, partition.value)

    def _is_to_wait(self, starts: Offsets, ends: Offsets) -> bool:
        """Too few are there, and it is not yet long since the last batch."""
        few = available(starts, ends) < self._options.min_offsets
        if not few or self._last_batch_s is None:
            return False
        return time.monotonic() - self._last_batch_s < self._options.max_delay_ms / 1000

    def _ends(self, router: Router) -> Offsets:
        read = self._options.read
        return resolve(router, select(router, read), read.ending, read, is_start=False)

    def _with_new(self, router: Router, starts: Offsets, ends: Offsets) -> Offsets:
        """Partitions that came later are read from their beginning."""
        return {**self._earliest(router, {*ends} - {*starts}), **starts}

    def _earliest(self, router: Router, partitions: set[TopicPartition]) -> Offsets:
        selected: dict[str, list[int]] = {}
        for at in sorted(partitions):
            selected.setdefault(at.topic, []).append(at.partition)
        bound = Bound(EARLIEST_TIMESTAMP)
        return resolve(router, selected, bound, self._options.read, is_start=True)
