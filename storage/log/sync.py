"""How far a log is synced, and a sync in three steps, so that the slow one may run on a thread.

A truncation between the steps takes the sync's promise away: the bytes below its end may be others
by then. After an fsync that failed nothing is promised any more: the system reports such an error
once, and success from then on, whatever became of the pages.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from errno import EIO

from logquake.storage.disk.seam import Disk
from logquake.storage.errors import StorageError, disk_faults
from logquake.storage.log.files import Unsynced
from logquake.storage.log.owed_checkpoint import OwedCheckpoint
from logquake.storage.log.state import LogState
from logquake.wire.sentinels import UNKNOWN_OFFSET


@dataclass(frozen=True, slots=True)
class PendingSync:
    """LogSyncs.begin() made it; run() anywhere; then finish(it), or fail(it)."""

    disk: Disk
    unsynced: Unsynced
    start_offset: int  # the recovery point that it began with
    cuts: int

    def run(self) -> None:
        """fsync everything; blocks. Raises OSError, after which it must not be finished."""
        for file in self.unsynced.files:
            file.sync()
        for directory in self.unsynced.directories:
            self.disk.sync_dir(directory)


class LogSyncs:
    """``recovery_point`` is the offset below which everything is synced.

    ``checkpoint`` is owed once that fell: whoever lowers it settles before anything is cut.
    """

    def __init__(self, state: LogState) -> None:
        self.recovery_point = 0
        self.checkpoint = OwedCheckpoint()
        self._state = state
        self.cuts = 0  # how often something was dropped, by which work in between is noticed
        self._has_failed = False

    @property
    def unsynced_roll(self) -> bool:
        """Segments that are written to no more are not synced yet."""
        return self._state.files.segments.active.base_offset > self.recovery_point

    def begin(self, *, rolled_only: bool = False) -> PendingSync:
        """Collect what finish() may call synced once run() returned. Raises StorageError.

        rolled_only leaves the active segment out. Of very many segments only the oldest are
        collected: another sync must follow, as long as the recovery point shows.
        """
        state = self._state
        with disk_faults(state.directory):
            if self._has_failed:
                raise OSError(EIO, "an earlier sync failed, and what it lost is not known")
            unsynced = state.files.unsynced(
                self.recovery_point, state.written_end_offset, rolled_only=rolled_only
            )
        return PendingSync(state.disk, unsynced, self.recovery_point, self.cuts)

    def finish(self, pending: PendingSync) -> None:
        """Move the recovery point, unless a truncation came between: the bytes may be others."""
        self._state.files.note_synced(pending.unsynced)
        if pending.cuts == self.cuts:
            self.recovery_point = max(self.recovery_point, pending.unsynced.end_offset)

    def fail(self, pending: PendingSync) -> None:
        """run() failed: neither it nor a later sync may claim what it was to make safe."""
        self._has_failed = True
        with suppress(StorageError):  # the disk that fails is the one that would be written
            self.lower(pending.start_offset)
            self.checkpoint.settle()

    def sync(self) -> None:
        """All three steps here and now, until everything written is synced. Raises StorageError."""
        end_offset = UNKNOWN_OFFSET
        while end_offset < self._state.written_end_offset:
            pending = self.begin()
            end_offset = pending.unsynced.end_offset
            try:
                with disk_faults(self._state.directory):
                    pending.run()
            except StorageError:
                self.fail(pending)
                raise
            self.finish(pending)

    def lower(self, offset: int) -> None:
        """What is at offset and later is about to change."""
        self.cuts += 1
        if offset < self.recovery_point:
            self.recovery_point = offset
            self.checkpoint.is_owed = True
