"""Handles of a MemoryDisk: open files and locks."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Sequence

from logquake.storage.disk.seam import Buffer
from tests.doubles.memory_content import MemoryContent
from tests.doubles.memory_faults import Faults, PowerCutError


class MemoryFile:
    """``is_void`` tells of a handle from before a crash: like a dead process's it fails (EBADF)."""

    __slots__ = ("_content", "_faults", "_is_closed", "_is_void", "_path")

    def __init__(
        self, content: MemoryContent, path: str, faults: Faults, is_void: Callable[[], bool]
    ) -> None:
        self._content = content
        self._path = path
        self._faults = faults
        self._is_void = is_void
        self._is_closed = False

    def pread(self, size: int, position: int) -> bytes:
        self._check_open()
        self._faults.before_read()
        return self._content.read(size, position)

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        self._check_open()
        try:
            self._faults.before_change("pwritev", self._path)
        except (OSError, PowerCutError):
            whole = b"".join(buffers)
            self._content.write(whole[: len(whole) // 2], position)
            raise
        if self._faults.watcher is not None:
            return self._write_watched(memoryview(b"".join(buffers)), position)
        return self._content.write_all(buffers, position)

    def truncate(self, size: int) -> None:
        self._check_open()
        self._faults.before_change("truncate", self._path)
        self._content.truncate(size)

    def size(self) -> int:
        self._check_open()
        return self._content.size

    def sync(self) -> None:
        self._check_open()
        self._faults.before_change("sync", self._path)
        self._content.sync()

    def fileno(self) -> int:
        raise io.UnsupportedOperation("a file in memory has no descriptor")

    def close(self) -> None:
        self._is_closed = True

    def _write_watched(self, data: memoryview, position: int) -> int:
        """Page by page: a crash can come between any two."""
        for start, stop in self._content.pieces(position, position + len(data)):
            if start > position and self._faults.watcher is not None:
                self._faults.watcher("within pwritev", self._path)
            self._content.write(data[start - position : stop - position], start)
        return len(data)

    def _check_open(self) -> None:
        if self._is_closed or self._is_void():
            raise OSError(errno.EBADF, "closed, or opened before a crash", self._path)


class MemoryLock:
    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)
