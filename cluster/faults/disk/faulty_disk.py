"""A Disk and its files, each call of which can be struck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logquake.cluster.faults.disk.replacing import replace_in_steps
from logquake.cluster.faults.disk.strikes import Strikes
from logquake.storage.disk.seam import Buffer, Disk, DiskSpace, File, Lock


class FaultyFile:
    """What is sent from it with sendfile counts as one read when the descriptor is asked for."""

    __slots__ = ("_file", "_path", "_strikes")

    def __init__(self, file: File, path: str, strikes: Strikes) -> None:
        self._file = file
        self._path = path
        self._strikes = strikes

    def pread(self, size: int, position: int) -> bytes:
        self._strikes.before("read", self._path)
        return self._file.pread(size, position)

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        def first_half() -> None:
            whole = b"".join(buffers)
            self._file.pwritev([whole[: len(whole) // 2]], position)

        self._strikes.before("write", self._path, first_half)
        return self._file.pwritev(buffers, position)

    def truncate(self, size: int) -> None:
        self._strikes.before("truncate", self._path)
        self._file.truncate(size)

    def size(self) -> int:
        return self._file.size()

    def sync(self) -> None:
        self._strikes.before("sync", self._path)
        self._file.sync()

    def fileno(self) -> int:
        self._strikes.before("read", self._path)
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()


class FaultyDisk:
    """An open file goes by the path that it was opened by, however it is renamed meanwhile."""

    def __init__(self, disk: Disk, strikes: Strikes) -> None:
        self._disk = disk
        self._strikes = strikes

    def open(self, path: str, *, create: bool = False) -> FaultyFile:
        is_new = create and not self._disk.exists(path)
        self._strikes.before("create" if is_new else "open", path)
        return FaultyFile(self._disk.open(path, create=create), path, self._strikes)

    def read(self, path: str) -> bytes:
        self._strikes.before("read", path)
        return self._disk.read(path)

    def replace(self, path: str, content: bytes) -> None:
        replace_in_steps(self, path, content)

    def exists(self, path: str) -> bool:
        return self._disk.exists(path)

    def list(self, path: str) -> list[str]:
        self._strikes.before("list", path)
        return self._disk.list(path)

    def make_dirs(self, path: str) -> None:
        if not self._disk.exists(path):
            self._strikes.before("mkdir", path)
        self._disk.make_dirs(path)

    def rename(self, source: str, target: str) -> None:
        self._strikes.before("rename", source)
        self._disk.rename(source, target)

    def remove(self, path: str) -> None:
        self._strikes.before("remove", path)
        self._disk.remove(path)

    def remove_tree(self, path: str) -> None:
        self._strikes.before("remove", path)
        self._disk.remove_tree(path)

    def sync_dir(self, path: str) -> None:
        self._strikes.before("sync_dir", path)
        self._disk.sync_dir(path)

    def modified_ms(self, path: str) -> int:
        return self._disk.modified_ms(path)

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        self._disk.set_modified_ms(path, time_ms)

    def lock(self, path: str) -> Lock:
        self._strikes.before("open", path)
        return self._disk.lock(path)

    def space(self, path: str) -> DiskSpace:
        space = self._disk.space(path)
        return space if self._strikes.has_space(path) else replace(space, usable=0)
