"""The machine's own file system behind the Disk seam.

A file's descriptor is closed with the last reference to it, so that a response which still sends
from a deleted segment never sends another file's bytes through a reused number.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Sequence
from typing import ClassVar

from logquake.storage.disk.seam import Buffer, DiskSpace

IOV_MAX = os.sysconf("SC_IOV_MAX")
_OPEN_FLAGS = os.O_RDWR | os.O_CLOEXEC


class RealFile:
    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def pread(self, size: int, position: int) -> bytes:
        content = os.pread(self._descriptor, size, position)
        if len(content) == size or not content:
            return content
        return content + self.pread(size - len(content), position + len(content))

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        start = position
        for first in range(0, len(buffers), IOV_MAX):
            position += self._write_all(buffers[first : first + IOV_MAX], position)
        return position - start

    def _write_all(self, buffers: Sequence[Buffer], position: int) -> int:
        wanted = sum(map(len, buffers))
        written = os.pwritev(self._descriptor, buffers, position)
        if written < wanted:  # rare: a signal, a quota, a nearly full disk
            rest = memoryview(b"".join(buffers))
            while written < wanted:
                written += os.pwrite(self._descriptor, rest[written:], position + written)
        return written

    def truncate(self, size: int) -> None:
        os.ftruncate(self._descriptor, size)

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def sync(self) -> None:
        os.fdatasync(self._descriptor)

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            self.close()


class RealLock:
    """A POSIX record lock, as Java's FileLock takes: Kafka and logquake exclude each other.

    Such locks belong to the process: a second one here would succeed, hence the set of paths.
    """

    _held: ClassVar[set[str]] = set()

    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path)
        if self._path in self._held:
            raise BlockingIOError(f"{path} is locked by this process")
        self._file = open(path, "a+b")  # noqa: SIM115 (held until release)
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise BlockingIOError(f"{path} is locked by another process") from error
        self._held.add(self._path)

    def release(self) -> None:
        self._held.discard(self._path)
        self._file.close()


class RealDisk:
    def open(self, path: str, *, create: bool = False) -> RealFile:
        flags = _OPEN_FLAGS | os.O_CREAT if create else _OPEN_FLAGS
        return RealFile(os.open(path, flags, 0o644))

    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def replace(self, path: str, content: bytes) -> None:
        temporary = path + ".tmp"
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        self.sync_dir(os.path.dirname(path) or ".")

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def list(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    def make_dirs(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)

    def remove_tree(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(path)

    def sync_dir(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def modified_ms(self, path: str) -> int:
        return os.stat(path).st_mtime_ns // 1_000_000

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        os.utime(path, ns=(time_ms * 1_000_000, time_ms * 1_000_000))

    def lock(self, path: str) -> RealLock:
        return RealLock(path)

    def space(self, path: str) -> DiskSpace:
        found = os.statvfs(path)
        return DiskSpace(found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize)
