"""A sync of a log in three steps, so that the slow one can run on another thread."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage.disk import Disk, File


@dataclass(frozen=True, slots=True)
class PendingSync:
    """Log.begin_sync() made it; run() anywhere; Log.finish_sync(it) moves the recovery point."""

    disk: Disk
    files: tuple[File, ...]
    directories: tuple[str, ...]
    end_offset: int
    truncations: int

    def run(self) -> None:
        """fsync everything; blocks. Raises OSError, after which it must not be finished."""
        for file in self.files:
            file.sync()
        for directory in self.directories:
            self.disk.sync_dir(directory)
