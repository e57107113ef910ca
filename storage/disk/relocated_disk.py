"""A disk on which one folder lies, for a while, under another name than the one it is asked for by.

A future log is written under ``T-P.<hex>-future`` and becomes ``T-P`` when it takes the current
one's place. Its Log knows the final name alone, so that nothing in it has to be told of the move.
"""

from __future__ import annotations

from logquake.storage.disk.seam import Disk, DiskSpace, File, Lock
from logquake.storage.file_names import parent


class RelocatedDisk:
    """``settle()`` ends the difference. Open files do not notice."""

    def __init__(self, disk: Disk, named: str, actual: str) -> None:
        self._disk = disk
        self.named = named
        self.actual = actual

    def settle(self) -> None:
        """Give the folder the name that it is asked for by, durably.

        Raises OSError, and then it has the old name, unless the disk refused that too.
        """
        self._disk.rename(self.actual, self.named)
        try:
            self._disk.sync_dir(parent(self.named))
        except OSError:
            self._disk.rename(self.named, self.actual)
            raise
        self.actual = self.named

    def _at(self, path: str) -> str:
        if path == self.named or path.startswith(self.named + "/"):
            return self.actual + path[len(self.named) :]
        return path

    def open(self, path: str, *, create: bool = False) -> File:
        return self._disk.open(self._at(path), create=create)

    def read(self, path: str) -> bytes:
        return self._disk.read(self._at(path))

    def replace(self, path: str, content: bytes) -> None:
        self._disk.replace(self._at(path), content)

    def exists(self, path: str) -> bool:
        return self._disk.exists(self._at(path))

    def list(self, path: str) -> list[str]:
        return self._disk.list(self._at(path))

    def make_dirs(self, path: str) -> None:
        self._disk.make_dirs(self._at(path))

    def rename(self, source: str, target: str) -> None:
        self._disk.rename(self._at(source), self._at(target))

    def remove(self, path: str) -> None:
        self._disk.remove(self._at(path))

    def remove_tree(self, path: str) -> None:
        self._disk.remove_tree(self._at(path))

    def sync_dir(self, path: str) -> None:
        self._disk.sync_dir(self._at(path))

    def modified_ms(self, path: str) -> int:
        return self._disk.modified_ms(self._at(path))

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        self._disk.set_modified_ms(self._at(path), time_ms)

    def lock(self, path: str) -> Lock:
        return self._disk.lock(self._at(path))

    def space(self, path: str) -> DiskSpace:
        return self._disk.space(self._at(path))
