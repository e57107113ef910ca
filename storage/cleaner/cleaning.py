"""One cleaning of one log, in slices that a worker thread does (Cleaner.doClean).

First the keys of the dirty part are read into a map, then every segment up to where the map ends
is written anew, group by group, and each group is swapped in before the next begins. In between
slices the loop may give up: what was swapped in stays, what was not is discarded.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from logquake.storage.cleaner.cleaned_segment import CleanedSegment
from logquake.storage.cleaner.grouping import group_by_size
from logquake.storage.cleaner.mapping import MapBuilder
from logquake.storage.cleaner.plan import CleaningPlan
from logquake.storage.cleaner.record_filter import Horizon, RecordFilter
from logquake.storage.cleaner.rewriting import rewrite
from logquake.storage.cleaner.source import Chunk, Source, inspect, read_chunks
from logquake.storage.cleaner.statistics import CleanerStats
from logquake.storage.cleaner.transactions import CleanedTransactions
from logquake.storage.disk.seam import Disk
from logquake.storage.segments.segment import StagedBatch


@dataclass(frozen=True, slots=True)
class Worked:
    """A slice was done that read or wrote so many bytes."""

    size: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """The loop is to swap: the cleaned segment at base_offset for the sources."""

    base_offset: int
    sources: frozenset[int]  # base offsets


@dataclass(frozen=True, slots=True)
class Finished:
    """Everything before end_offset is clean."""

    end_offset: int


Step = Worked | Replacement | Finished


class Cleaning:
    """work() on a worker until it answers Finished; after a Replacement the loop swaps first.

    cuts: the truncations of the log before it began, by which a later one is noticed.
    ``to_replace`` are the segments, by base offset, that are not replaced yet.
    """

    def __init__(self, disk: Disk, directory: str, plan: CleaningPlan, cuts: int) -> None:
        self.plan = plan
        self.cuts = cuts
        self.to_replace = {segment.base_offset for segment in plan.segments}
        self.stats = CleanerStats()
        self._disk = disk
        self._directory = directory
        self._unfinished: CleanedSegment | None = None
        self._steps = self._all_steps()

    def work(self) -> Step:
        """Do a slice. Raises OSError, RecordError: then only discard() is left."""
        return next(self._steps)

    def discard(self) -> None:
        """Give up; remove what is not swapped in."""
        self._steps.close()
        unfinished, self._unfinished = self._unfinished, None
        if unfinished is not None:
            with suppress(OSError):  # the folder is gone, or the disk: the next start removes it
                unfinished.discard()

    def _all_steps(self) -> Generator[Step, None, None]:
        plan = self.plan
        sources = [inspect(self._disk, self._directory, segment) for segment in plan.segments]
        builder = MapBuilder(plan, sources)
        for size in builder.slices():
            yield Worked(size)
        end_offset = builder.offset_map.latest_offset + 1
        transactions = CleanedTransactions(plan.aborted)
        record_filter = RecordFilter(builder.offset_map, transactions, plan.last_records)
        legacy_ms = self._legacy_horizon_ms(sources)
        for group in self._groups([s for s in sources if s.base_offset < end_offset]):
            yield from self._clean_group(group, legacy_ms, record_filter, transactions)
        while True:
            yield Finished(end_offset)

    def _groups(self, sources: Sequence[Source]) -> list[list[Source]]:
        plan = self.plan
        return group_by_size(
            sources,
            max_bytes=plan.config.segment_bytes,
            max_index_bytes=plan.config.index_max_bytes,
            end_offset=plan.to_clean.first_uncleanable,
        )

    def _clean_group(
        self,
        group: Sequence[Source],
        legacy_ms: int,
        record_filter: RecordFilter,
        transactions: CleanedTransactions,
    ) -> Iterator[Step]:
        base_offset = group[0].base_offset
        cleaned = CleanedSegment(self._disk, self._directory, base_offset, self.plan.config)
        self._unfinished = cleaned
        for source in group:
            keeps_legacy = source.modified_ms > legacy_ms
            horizon = Horizon(self.plan.now_ms, self.plan.config.delete_retention_ms, keeps_legacy)
            for chunk in read_chunks(source, 0, self.plan.bounds.io_bytes):
                written = self._clean_chunk(chunk, cleaned, record_filter, transactions, horizon)
                yield Worked(chunk.size + written)
        cleaned.seal(group[-1].modified_ms)
        yield Replacement(base_offset, frozenset(source.base_offset for source in group))
        self._unfinished = None
        self.stats.segments_read += len(group)
        self.stats.segments_written += 1
        self._disk.sync_dir(self._directory)

    def _clean_chunk(
        self,
        chunk: Chunk,
        cleaned: CleanedSegment,
        record_filter: RecordFilter,
        transactions: CleanedTransactions,
        horizon: Horizon,
    ) -> int:
        """The bytes written."""
        batches: list[StagedBatch] = []
        stats = self.stats
        for position, header in chunk.batches:
            result = rewrite(chunk.view, position, header, record_filter, horizon)
            stats.records_read += result.records_read
            stats.records_written += result.records_kept
            if result.batch is not None:
                batches.append(result.batch)
        cleaned.append(batches, transactions.take_kept())
        written = sum(len(batch.data) for batch in batches)
        stats.bytes_read += chunk.size
        stats.bytes_written += written
        return written

    def _legacy_horizon_ms(self, sources: Sequence[Source]) -> int:
        """Tombstones of magic 0 and 1 go from segments that were last written before it."""
        plan = self.plan
        clean = [s for s in sources if s.base_offset < plan.to_clean.first_dirty]
        return clean[-1].modified_ms - plan.config.delete_retention_ms if clean else 0
