"""Truncation: dropping the end of a log, or all of it.

The checkpoints of its directory are lowered before anything is cut: by the cut itself, or, of many
logs at once, by prepare() and whoever then writes them.
"""

from __future__ import annotations

from logquake.storage.errors import disk_faults
from logquake.storage.log.compaction import LogCleaning
from logquake.storage.log.owed_checkpoint import OwedCheckpoint
from logquake.storage.log.state import LogState
from logquake.storage.log.sync import LogSyncs
from logquake.storage.producers.recovery import ProducerRecovery


class LogCuts:
    """Raises StorageError from every method; RuntimeError while something is staged."""

    def __init__(self, state: LogState, syncs: LogSyncs, cleaning: LogCleaning) -> None:
        self._state = state
        self._syncs = syncs
        self._cleaning = cleaning

    def prepare(self, offset: int) -> bool:
        """Lower in memory what truncate_to(offset) needs lowered; whether checkpoints are owed."""
        state = self._state
        if offset < state.written_end_offset:
            is_all = offset < state.files.segments.first.base_offset
            self._lower(0 if is_all else offset, offset)
        return any(checkpoint.is_owed for checkpoint in self._checkpoints)

    def note_checkpointed(self) -> None:
        """The checkpoints are written since prepare()."""
        for checkpoint in self._checkpoints:
            checkpoint.is_owed = False

    def truncate_to(self, offset: int) -> int:
        """Drop the batch that holds offset and all after it; the new end offset."""
        state = self._state
        state.require_nothing_staged()
        if offset >= state.written_end_offset:
            return self._truncate_epochs()
        if offset < state.files.segments.first.base_offset:
            self.truncate_fully_and_start_at(offset)
            return offset
        with disk_faults(state.directory):
            self._lower(offset, offset)
            self._settle()
            end_offset = state.files.truncate_to(offset)
            self._lower(end_offset, end_offset)  # the batch that holds offset went as a whole
            self._settle()
            state.start_offset = min(state.start_offset, end_offset)
            recovery = ProducerRecovery(
                state.producers, state.files.snapshots, state.files.segments
            )
            recovery.run(state.start_offset, end_offset)
        state.write_failed = False
        state.end_at(end_offset)
        return end_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next append is at offset."""
        state = self._state
        state.require_nothing_staged()
        with disk_faults(state.directory):
            # 0: what an interrupted restart leaves must be checked from the beginning.
            self._lower(0, offset)
            self._settle()
            state.files.restart_at(offset)
        state.producers.load((), offset)
        state.start_offset = self._syncs.recovery_point = offset
        state.write_failed = False
        state.end_at(offset)

    @property
    def _checkpoints(self) -> tuple[OwedCheckpoint, OwedCheckpoint]:
        return self._syncs.checkpoint, self._cleaning.checkpoint

    def _lower(self, recovery_point: int, cleaned_to: int) -> None:
        self._syncs.lower(recovery_point)
        self._cleaning.lower(cleaned_to)

    def _settle(self) -> None:
        for checkpoint in self._checkpoints:
            checkpoint.settle()

    def _truncate_epochs(self) -> int:
        state = self._state
        state.files.epochs.truncate_from_end(state.written_end_offset)
        with disk_faults(state.directory):
            state.files.save_epochs()
        return state.written_end_offset
