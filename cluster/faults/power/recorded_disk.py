"""The machine's disk, with a record of what a loss of power would take back."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from threading import Lock as ThreadLock

from logquake.cluster.faults.disk.replacing import replace_in_steps
from logquake.cluster.faults.power.record import Record
from logquake.cluster.faults.power.recorded_file import RecordedFile
from logquake.storage.disk.real_disk import RealDisk, RealFile, RealLock
from logquake.storage.disk.seam import Buffer, DiskSpace


class OpenFile:
    """Of a RecordedDisk. Syncs are the only calls during which others go on."""

    __slots__ = ("_alone", "_content", "_file", "_record")

    def __init__(
        self, file: RealFile, content: RecordedFile, record: Record, alone: ThreadLock
    ) -> None:
        self._file = file
        self._content = content
        self._record = record
        self._alone = alone

    def pread(self, size: int, position: int) -> bytes:
        return self._file.pread(size, position)

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        with self._alone:
            if position < self._content.covered:
                self._save(position, position + sum(map(len, buffers)))
            return self._file.pwritev(buffers, position)

    def truncate(self, size: int) -> None:
        with self._alone:
            self._save(size, self._file.size())
            self._file.truncate(size)

    def size(self) -> int:
        return self._file.size()

    def sync(self) -> None:
        with self._alone:
            sync = self._record.begin_sync(self._content, self._file.size())
        self._file.sync()
        with self._alone:
            self._record.end_sync(self._content, sync)

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()

    def _save(self, start: int, end: int) -> None:
        page_bytes = self._record.page_bytes
        for page in list(self._content.pages_to_save(start, end)):
            content = self._file.pread(page_bytes, page * page_bytes)
            self._record.save_page(self._content, page, content)


class RecordedDisk:
    """Satisfies Disk. A rename stays within its folder; locks are not recorded."""

    def __init__(self, disk: RealDisk, record: Record) -> None:
        self._disk = disk
        self._record = record
        self._alone = ThreadLock()

    def open(self, path: str, *, create: bool = False) -> OpenFile:
        with self._alone:
            if create and not self._disk.exists(path):
                _require(self._disk, os.path.dirname(path))
                content = self._record.make_file(path)
            else:
                content = self._record.file(path)
            file = self._disk.open(path, create=create)
            return OpenFile(file, content, self._record, self._alone)

    def read(self, path: str) -> bytes:
        return self._disk.read(path)

    def replace(self, path: str, content: bytes) -> None:
        replace_in_steps(self, path, content)

    def exists(self, path: str) -> bool:
        return self._disk.exists(path)

    def list(self, path: str) -> list[str]:
        return self._disk.list(path)

    def make_dirs(self, path: str) -> None:
        if self._disk.exists(path):
            return
        self.make_dirs(os.path.dirname(path))
        with self._alone:
            self._record.make_folder(path)

    def rename(self, source: str, target: str) -> None:
        with self._alone:
            _require(self._disk, source)
            if os.path.dirname(source) != os.path.dirname(target):
                raise OSError(errno.EXDEV, "rename to another folder", target)
            self._record.rename(source, target)

    def remove(self, path: str) -> None:
        with self._alone:
            if self._disk.exists(path):
                self._record.remove(path)

    def remove_tree(self, path: str) -> None:
        if os.path.isdir(path):
            for name in self._disk.list(path):
                self.remove_tree(f"{path}/{name}")
        self.remove(path)

    def sync_dir(self, path: str) -> None:
        with self._alone:
            _require(self._disk, path)
            folder = self._record.folder(path)
            changes = folder.changes
        self._disk.sync_dir(path)
        with self._alone:
            self._record.sync_folder(folder, changes)

    def modified_ms(self, path: str) -> int:
        return self._disk.modified_ms(path)

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        self._disk.set_modified_ms(path, time_ms)

    def lock(self, path: str) -> RealLock:
        return self._disk.lock(path)

    def space(self, path: str) -> DiskSpace:
        return self._disk.space(path)


def _require(disk: RealDisk, path: str) -> None:
    if not disk.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
