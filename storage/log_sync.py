"""How far a log is synced, and a sync in three steps, so that the slow one may run on a thread.

A truncation between the steps takes the sync's promise away: the bytes below its end may be others
by then. After an fsync that failed nothing is promised any more: the system reports such an error
once, and success from then on, whatever became of the pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from errno import EIO

from logquake.storage.disk import Disk, File
from logquake.storage.log_files import LogFiles


@dataclass(frozen=True, slots=True)
class PendingSync:
    """Log.begin_sync() made it; run() anywhere; then Log.finish_sync(it), or Log.fail_sync(it)."""

    disk: Disk
    files: tuple[File, ...]
    directories: tuple[str, ...]
    start_offset: int  # the recovery point that it began with
    end_offset: int
    cuts: int

    def run(self) -> None:
        """fsync everything; blocks. Raises OSError, after which it must not be finished."""
        for file in self.files:
            file.sync()
        for directory in self.directories:
            self.disk.sync_dir(directory)


class SyncState:
    """``recovery_point`` is the offset below which everything is synced."""

    def __init__(self, disk: Disk, files: LogFiles) -> None:
        self.recovery_point = 0
        self._disk = disk
        self._files = files
        self._cuts = 0
        self._has_failed = False

    def begin(self, end_offset: int, *, rolled_only: bool) -> PendingSync:
        """Raises OSError."""
        if self._has_failed:
            raise OSError(EIO, "an earlier sync failed, and what it lost is not known")
        files, directories = self._files.unsynced(self.recovery_point, rolled_only=rolled_only)
        return PendingSync(
            self._disk,
            tuple(files),
            tuple(directories),
            self.recovery_point,
            self._files.segments.active.base_offset if rolled_only else end_offset,
            self._cuts,
        )

    def finish(self, pending: PendingSync) -> None:
        if pending.cuts == self._cuts:
            self.recovery_point = max(self.recovery_point, pending.end_offset)

    def fail(self) -> None:
        self._has_failed = True

    def lower(self, offset: int) -> bool:
        """What is at offset and later may change; whether the recovery point fell."""
        self._cuts += 1
        if offset >= self.recovery_point:
            return False
        self.recovery_point = offset
        return True
