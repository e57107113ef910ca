"""A log, from its folder to the first read: what a start trusts and what it repairs (LogLoader).

LogOpening.run() is to be read from top to bottom. After a clean stop the files are believed; after
a crash what lies from the recovery point on is scanned (recovery.py), and the log ends before the
first thing that is wrong. Indexes, leader epochs and producers then follow what the records say.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.storage import file_names as names
from logquake.storage.cleaner.swap import finish_swaps
from logquake.storage.invariants import asserted_after
from logquake.storage.log.epoch_recovery import derive_earliest_epochs, derive_epochs
from logquake.storage.log.last_run import CleanStop, LastRun, UncleanStop
from logquake.storage.log.recovery import Recovery, RecoveryReport
from logquake.storage.log.state import LogState
from logquake.storage.producers.recovery import ProducerRecovery, Unindexed, find_unindexed
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.open_files import OpenFiles


def ignore_bytes(_: int) -> None:
    """Nobody waits for the progress of a recovery."""


@dataclass(frozen=True, slots=True)
class OpeningTerms:
    """What the logs of a directory are opened with.

    ``now_ms``, wall time, leaves out the producers that a snapshot shows idle for
    producer.id.expiration.ms. ``open_files`` bounds the descriptors of all logs that share it.
    ``scanned`` is called with bytes as they are checked; what it raises ends the opening.
    """

    open_files: OpenFiles | None = None
    now_ms: int | None = None
    scanned: Callable[[int], None] = ignore_bytes


ALONE = OpeningTerms()


@asserted_after("run")
class LogOpening:
    """One opening of one log, into ``state``, whose invariants it brings about. Raises OSError."""

    def __init__(self, state: LogState, last_run: LastRun, terms: OpeningTerms) -> None:
        self._state = state
        self._files = state.files
        self._segments = state.files.segments
        self._last_run = last_run
        self._terms = terms
        self._unindexed: set[int] = set()  # segments whose .txnindex is to be built anew
        self._report = RecoveryReport()

    def run(self) -> RecoveryReport:
        """The state begins and ends where the log does; what was repaired on the way."""
        self._state.disk.make_dirs(self._state.directory)
        epochs_are_known = self._files.load_epochs()
        self._open_segments()
        if not epochs_are_known:
            self._find_epochs_before_the_scan()
        if isinstance(self._last_run.stop, UncleanStop) and len(self._segments):
            self._scan_from(self._last_run.stop.recovery_point)
        if not len(self._segments):
            self._segments.roll(self._last_run.start_offset)
        end_offset = self._drop_if_it_ends_before_its_start(self._find_end())
        self._segments.active.activate()
        self._files.snapshots.prune({segment.base_offset for segment in self._segments})
        start_offset = max(self._last_run.start_offset, self._segments.first.base_offset)
        self._fit_epochs(start_offset, end_offset)
        self._bring_back_producers(start_offset, end_offset)
        self._files.metadata.load()
        self._state.start_offset = start_offset
        self._state.end_at(end_offset)
        return self._report

    def check_invariants(self) -> None:
        """Of the log that is open now (storage/invariants.py)."""
        self._state.check_invariants()

    def _open_segments(self) -> None:
        """Open those that the folder holds; remove what interrupted operations left there."""
        disk, directory = self._state.disk, self._state.directory
        finish_swaps(disk, directory, self._segments.config)
        found = disk.list(directory)
        base_offsets = names.offsets_with(found, names.LOG_SUFFIX)
        for suffix in names.SEGMENT_SUFFIXES[1:]:
            for orphan in set(names.offsets_with(found, suffix)).difference(base_offsets):
                disk.remove(names.join(directory, names.offset_file(orphan, suffix)))
        self._segments.open_existing(base_offsets)
        self._unindexed = find_unindexed(disk, directory, self._segments)

    def _find_epochs_before_the_scan(self) -> None:
        """leader-epoch-checkpoint was lost: from what no scan is going to read, after a clean stop
        from everything.
        """
        if len(self._segments):
            match self._last_run.stop:
                case CleanStop():
                    scanned = 0
                case UncleanStop(recovery_point):
                    scanned = len(self._segments.unsynced(recovery_point))
            known = self._segments.current.segments
            derive_epochs(known[: len(known) - scanned], self._files.epochs)

    def _scan_from(self, recovery_point: int) -> None:
        """Check every batch from there on; the log ends before the first that is not intact."""
        # Not of the segment that ends there: what transactions left was synced with its records.
        for segment in self._segments.from_offset(recovery_point):
            segment.txn_index.reset()
            self._unindexed.add(segment.base_offset)
        # A log that is compacted no more has the gaps still.
        may_have_gaps = self._state.config.compacted or self._last_run.cleaned_to is not None
        recovery = Recovery(
            self._segments, self._files.epochs, self._terms.scanned, gaps_allowed=may_have_gaps
        )
        self._report = recovery.run(recovery_point)
        if self._report.truncated_bytes:
            self._state.disk.sync_dir(self._state.directory)

    def _find_end(self) -> int:
        active = self._segments.active
        try:
            return active.next_offset()
        except DamagedBatchError:  # a clean stop, and a file that was changed since
            self._scan_from(active.base_offset)
            return self._segments.active.next_offset()

    def _drop_if_it_ends_before_its_start(self, end_offset: int) -> int:
        """Segments were deleted by hand, or lost by a crash: it goes on, empty, at its start."""
        start_offset = self._last_run.start_offset
        if end_offset >= start_offset:
            return end_offset
        self._report = self._report.with_all_dropped(self._segments.size, end_offset, start_offset)
        self._files.restart_at(start_offset)
        return start_offset

    def _fit_epochs(self, start_offset: int, end_offset: int) -> None:
        """What was written of them may tell of records that are not there any more, or again."""
        epochs = self._files.epochs
        epochs.truncate_from_end(end_offset)
        epochs.truncate_from_start(start_offset)
        derive_earliest_epochs(self._segments.current.segments, start_offset, epochs)
        self._files.save_epochs()

    def _bring_back_producers(self, start_offset: int, end_offset: int) -> None:
        """From the latest snapshot and the batches after it; .txnindex files in the same pass."""
        recovery = ProducerRecovery(self._state.producers, self._files.snapshots, self._segments)
        if self._terms.now_ms is not None:
            recovery.expire(self._terms.now_ms, self._state.config.producer_expiration_ms)
        base_offsets = {segment.base_offset for segment in self._segments}
        unindexed = Unindexed(
            frozenset(self._unindexed & base_offsets), self._last_run.start_offset
        )
        recovery.run(start_offset, end_offset, unindexed)
