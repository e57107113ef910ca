"""A log's part in its cleaning, on the loop: how dirty it is, what to do, and the swap.

The shape is that of a sync (log/sync.py): begin() here, Cleaning.work() on a worker, swap() here
for every group of segments, again and again.
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.storage.cleaner.cleaning import Cleaning, Replacement
from logquake.storage.cleaner.plan import CleanerBounds, CleaningPlan
from logquake.storage.cleaner.policy import LogFacts, LogToClean, assess, segments_between
from logquake.storage.cleaner.record_filter import LastRecord
from logquake.storage.cleaner.source import SealedSegment
from logquake.storage.cleaner.swap import swap_files
from logquake.storage.errors import disk_faults, refusals
from logquake.storage.log.deleted_files import DeletedFiles
from logquake.storage.log.owed_checkpoint import OwedCheckpoint
from logquake.storage.log.state import LogState
from logquake.storage.log.sync import LogSyncs
from logquake.storage.segments.segment import Segment
from logquake.wire.sentinels import UNKNOWN_OFFSET


class LogCleaning:
    """``cleaned_to`` is where the last cleaning ended; None before the first one.

    ``checkpoint`` is owed once a truncation lowered it. Methods raise StorageError,
    DamagedBatchError, DamagedIndexError.
    """

    def __init__(self, state: LogState, syncs: LogSyncs) -> None:
        self.cleaned_to: int | None = None
        self.checkpoint = OwedCheckpoint()
        self._state = state
        self._syncs = syncs

    def lower(self, offset: int) -> None:
        """What is at offset and later is about to change."""
        if self.cleaned_to is not None and self.cleaned_to > offset:
            self.cleaned_to = offset
            self.checkpoint.is_owed = True

    def assess(self, last_stable_offset: int, now_ms: int) -> LogToClean:
        """How dirty the log is; now_ms is wall time.

        What is not synced counts as dirty at most: a loss of power could take a key's newer record
        after the older one was cleaned away. Kafka takes that risk.
        """
        state = self._state
        facts = LogFacts(
            state.start_offset,
            state.written_end_offset,
            min(last_stable_offset, self._syncs.recovery_point),
            state.files.segments.current.segments,
            state.config,
        )
        with refusals(state.directory):
            return assess(facts, self.cleaned_to, now_ms)

    def begin(self, to_clean: LogToClean, bounds: CleanerBounds, now_ms: int) -> Cleaning:
        """Plan what a worker is to do. Raises ValueError for bounds that are too small."""
        state = self._state
        segments = state.files.segments.current.segments
        end_offset = to_clean.first_uncleanable
        with refusals(state.directory):
            plan = CleaningPlan(
                to_clean,
                _sealed(segments, end_offset),
                _map_position(segments, to_clean),
                [
                    transaction
                    for segment in segments  # a marker may lie after what is cleaned
                    for transaction in segment.txn_index.entries()
                    if transaction.first_offset < end_offset
                ],
                self._last_records(),
                state.config,
                bounds,
                now_ms,
            )
        return Cleaning(state.disk, state.directory, plan, self._syncs.cuts)

    def is_overtaken(self, cleaning: Cleaning) -> bool:
        """The log was truncated, or lost segments, so that nothing may be swapped in any more."""
        present = {segment.base_offset for segment in self._state.files.segments}
        return cleaning.cuts != self._syncs.cuts or not cleaning.to_replace <= present

    def swap(self, cleaning: Cleaning, replacement: Replacement) -> DeletedFiles:
        """Put a cleaned segment in the place of those that it was made from; what is left of them.

        To be asked before: is_overtaken().
        """
        state = self._state
        files, base_offset = state.files, replacement.base_offset
        old = [segment for segment in files.segments if segment.base_offset in replacement.sources]
        with disk_faults(state.directory):
            left = swap_files(state.disk, state.directory, old, [base_offset])
            cleaned = Segment.open(state.disk, state.directory, base_offset, state.config)
            files.segments.replace(old, [cleaned])
            for segment in old:
                segment.release()
                if segment.base_offset != base_offset:
                    left += files.snapshots.set_aside(segment.base_offset)
        cleaning.to_replace.difference_update(replacement.sources)
        return DeletedFiles(state.disk, tuple(left))

    def _last_records(self) -> dict[int, LastRecord]:
        return {
            entry.producer_id: LastRecord(
                entry.batches[-1].last_offset if entry.batches else UNKNOWN_OFFSET, entry.epoch
            )
            for entry in self._state.producers.entries()
        }


def _sealed(segments: Sequence[Segment], end_offset: int) -> list[SealedSegment]:
    sealed = [segment for segment in segments[:-1] if segment.base_offset < end_offset]
    ends = [segment.base_offset for segment in segments[1:]]
    return [
        SealedSegment(segment.base_offset, end, segment.size)
        for segment, end in zip(sealed, ends, strict=False)
    ]


def _map_position(segments: Sequence[Segment], to_clean: LogToClean) -> int:
    dirty = segments_between(segments[:-1], to_clean.first_dirty, to_clean.first_uncleanable)
    return dirty[0].indexes.position_of(to_clean.first_dirty) if dirty else 0
