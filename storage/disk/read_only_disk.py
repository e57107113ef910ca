"""The machine's file system for tools that only look: nothing in it can be changed."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import NoReturn

from logquake.storage.disk.real_disk import RealDisk, RealFile


class ReadOnlyDisk(RealDisk):
    """Every call that would change something raises OSError EROFS; files open for reading only."""

    def open(self, path: str, *, create: bool = False) -> RealFile:
        if create:
            _refuse(path)
        return RealFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))

    def is_locked(self, path: str) -> bool:
        """Whether another process holds the lock file; False where there is none."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            # A shared lock is to be had exactly where nobody has the exclusive one.
            fcntl.lockf(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def replace(self, path: str, content: bytes) -> NoReturn:  # noqa: ARG002
        _refuse(path)

    def make_dirs(self, path: str) -> NoReturn:
        _refuse(path)

    def rename(self, source: str, target: str) -> NoReturn:  # noqa: ARG002
        _refuse(source)

    def remove(self, path: str) -> NoReturn:
        _refuse(path)

    def remove_tree(self, path: str) -> NoReturn:
        _refuse(path)

    def sync_dir(self, path: str) -> NoReturn:
        _refuse(path)

    def set_modified_ms(self, path: str, time_ms: int) -> NoReturn:  # noqa: ARG002
        _refuse(path)

    def lock(self, path: str) -> NoReturn:
        _refuse(path)


def _refuse(path: str) -> NoReturn:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)
