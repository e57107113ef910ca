"""Files that were taken out of a log and wait, as .deleted, for their removal.

Kafka's LocalLog.deleteSegmentFiles with asyncDelete. A start removes those that are left over.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from logquake.storage.disk.seam import Disk


@dataclass(frozen=True, slots=True)
class DeletedFiles:
    disk: Disk
    paths: tuple[str, ...]

    def remove(self) -> None:
        """Free the space; blocks, on any thread. Raises OSError."""
        for path in self.paths:
            with suppress(FileNotFoundError):  # the whole partition went meanwhile
                self.disk.remove(path)
