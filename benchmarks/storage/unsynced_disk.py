"""The machine's disk without its syncs.

What a sync costs the process that asks for it depends on what else waits for the disk, and would
drown the rest.
"""

from __future__ import annotations

import os

from logquake.storage.disk.real_disk import RealDisk, RealFile


class UnsyncedFile(RealFile):
    __slots__ = ()

    def sync(self) -> None:
        pass


class UnsyncedDisk(RealDisk):
    def open(self, path: str, *, create: bool = False) -> UnsyncedFile:
        file = super().open(path, create=create)  # closes its descriptor when it goes
        return UnsyncedFile(os.dup(file.fileno()))

    def sync_dir(self, path: str) -> None:
        pass
