"""The Disk seam: everything storage asks of a file system, so that a disk can be swapped.

RealDisk is the machine's; MemoryDisk (tests/doubles/memory_disk.py) serves the simulation and keeps
synced and unsynced state apart. tests/storage/test_disk_seam.py holds both to the same rules.
Paths are plain strings with '/' between parts.
All calls raise OSError as the operating system would (ENOSPC, EIO, ...).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

Buffer = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Bytes of the file system that a path lies on; usable is what an ordinary user may take."""

    total: int
    usable: int


class Readable(Protocol):
    """A file that is read by position, or sent from."""

    def pread(self, size: int, position: int) -> bytes:
        """Up to size bytes from position; fewer only at the end of the file."""

    def fileno(self) -> int:
        """For sendfile. Raises io.UnsupportedOperation where there is no descriptor."""


class File(Readable, Protocol):
    """An open file, read and written by position."""

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        """Write all of the buffers at position; the number of bytes written, always all."""

    def truncate(self, size: int) -> None:
        """Cut or, with zeros, extend to size bytes."""

    def size(self) -> int: ...

    def sync(self) -> None:
        """fdatasync: what was written before survives a loss of power."""

    def close(self) -> None:
        """Release the handle. Dropping the last reference to it does the same."""


class Lock(Protocol):
    """A lock file that is held until released; the death of its process releases it too."""

    def release(self) -> None: ...


class Disk(Protocol):
    def open(self, path: str, *, create: bool = False) -> File:
        """Open for reading and writing. Raises FileNotFoundError unless create."""

    def read(self, path: str) -> bytes: ...

    def replace(self, path: str, content: bytes) -> None:
        """Write a whole file atomically: temporary file, fsync, rename, fsync of the folder."""

    def exists(self, path: str) -> bool: ...

    def list(self, path: str) -> list[str]:
        """Names in a folder, sorted."""

    def make_dirs(self, path: str) -> None: ...

    def rename(self, source: str, target: str) -> None: ...

    def remove(self, path: str) -> None:
        """Remove a file; nothing happens when it is not there."""

    def remove_tree(self, path: str) -> None: ...

    def sync_dir(self, path: str) -> None: ...

    def modified_ms(self, path: str) -> int:
        """When the file was last written, wall time; 0 where the disk has no clock."""

    def set_modified_ms(self, path: str, time_ms: int) -> None: ...

    def lock(self, path: str) -> Lock:
        """Take the file as an exclusive lock, created when missing.

        Raises BlockingIOError when another process, or this one, holds it.
        """

    def space(self, path: str) -> DiskSpace: ...
