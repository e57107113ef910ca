"""A disk in memory that can lose power: for the simulation and the crash tests.

What differs from a real disk: a rename stays within its folder; a removed tree comes back whole or
not at all; files do not lose their content to bit rot. A folder's changes (create, rename, remove)
reach the platter in their order, as a journaling file system has them, at sync_dir at the latest.
"""

from __future__ import annotations

import errno
import io
import os
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from logquake.storage.disk import Buffer
from logquake.storage.memory_file import PAGE_BYTES, MemoryContent


class PowerCutError(Exception):
    """The disk is gone until ``MemoryDisk.crash()``; nothing in storage may catch this."""


@dataclass(slots=True)
class _Folder:
    entries: dict[str, _Node] = field(default_factory=dict)
    # One element a change since the last sync_dir: what each touched name stood for before it.
    journal: list[dict[str, _Node | None]] = field(default_factory=list)

    def change(self, names: dict[str, _Node | None]) -> None:
        self.journal.append({name: self.entries.get(name) for name in names})
        self._put(names)

    def lose_power(self, rng: random.Random) -> None:
        for before in reversed(self.journal[rng.randint(0, len(self.journal)) :]):
            self._put(before)
        self.journal.clear()

    def _put(self, names: dict[str, _Node | None]) -> None:
        for name, node in names.items():
            if node is None:
                self.entries.pop(name, None)
            else:
                self.entries[name] = node


_Node = _Folder | MemoryContent


@dataclass(slots=True)
class _Fault:
    calls_left: int
    error: Exception
    lasting: bool


class MemoryFile:
    """An open file of a MemoryDisk; useless (EBADF) after a crash, like a dead process's."""

    __slots__ = ("_content", "_disk", "_incarnation", "_path")

    def __init__(self, disk: MemoryDisk, path: str, content: MemoryContent) -> None:
        self._disk = disk
        self._path = path
        self._content = content
        self._incarnation = disk.incarnation

    def pread(self, size: int, position: int) -> bytes:
        self._check_open()
        self._disk.before_read(self._path)
        return self._content.read(size, position)

    def pwritev(self, buffers: Sequence[Buffer], position: int) -> int:
        self._check_open()
        try:
            self._disk.before_change("pwritev", self._path)
        except (OSError, PowerCutError):
            whole = b"".join(buffers)
            self._content.write(whole[: len(whole) // 2], position)
            raise
        return self._content.write_all(buffers, position)

    def truncate(self, size: int) -> None:
        self._check_open()
        self._disk.before_change("truncate", self._path)
        self._content.truncate(size)

    def size(self) -> int:
        self._check_open()
        return self._content.size

    def sync(self) -> None:
        self._check_open()
        self._disk.before_change("sync", self._path)
        self._content.sync()

    def fileno(self) -> int:
        raise io.UnsupportedOperation("a file in memory has no descriptor")

    def close(self) -> None:
        self._incarnation = -1

    def _check_open(self) -> None:
        if self._incarnation != self._disk.incarnation:
            raise OSError(errno.EBADF, "closed, or opened before a crash", self._path)


class MemoryLock:
    def __init__(self, locked: set[str], path: str) -> None:
        self._locked = locked
        self._path = path

    def release(self) -> None:
        self._locked.discard(self._path)


class MemoryDisk:
    """Disk in memory. ``calls`` counts the calls that change it; ``history`` names them.

    page_bytes is the unit that a loss of power keeps or loses; a small one tears small writes.
    """

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self._page_bytes = page_bytes
        self.incarnation = 0
        self.calls = 0
        self.history: list[str] = []
        self.keep_history = False
        self._root = _Folder()
        self._fault: _Fault | None = None
        self._read_error: OSError | None = None
        self._locked: set[str] = set()

    # Faults

    def fail_at(self, call: int, error: Exception, *, lasting: bool = False) -> None:
        """Let the call-th change from now (1: the next) raise error, a write after its first half.

        An OSError strikes once unless lasting; a PowerCutError lasts until crash().
        """
        self._fault = _Fault(call, error, lasting or isinstance(error, PowerCutError))

    def fail_reads(self, error: OSError | None) -> None:
        self._read_error = error

    def heal(self) -> None:
        self._fault = None
        self._read_error = None

    def crash(self, keep_page_cache: bool, rng: random.Random) -> None:
        """End of the process (page cache kept) or of the machine's power (unsynced state lost).

        Open files and locks are void afterwards; injected faults are gone.
        """
        self.incarnation += 1
        self._locked = set()
        self.heal()
        if not keep_page_cache:
            _lose_power(self._root, rng)

    def before_change(self, operation: str, path: str) -> None:
        self.calls += 1
        if self.keep_history:
            self.history.append(f"{operation} {path}")
        fault = self._fault
        if fault is None:
            return
        fault.calls_left -= 1
        if fault.calls_left <= 0:
            if not fault.lasting:
                self._fault = None
            raise fault.error

    def before_read(self, path: str) -> None:
        if self._read_error is not None:
            raise self._read_error
        if self._fault is not None and self._fault.calls_left <= 0 and self._fault.lasting:
            self._raise_if_power_is_gone(path)

    def _raise_if_power_is_gone(self, path: str) -> None:
        if self._fault is not None and isinstance(self._fault.error, PowerCutError):
            raise PowerCutError(f"reading {path} without power")

    # Disk

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        folder, name = self._parent(path)
        node = folder.entries.get(name)
        if node is None and create:
            self.before_change("create", path)
            node = MemoryContent(self._page_bytes)
            folder.change({name: node})
        return MemoryFile(self, path, self._expect_file(node, path))

    def read(self, path: str) -> bytes:
        file = self.open(path)
        return file.pread(file.size(), 0)

    def replace(self, path: str, content: bytes) -> None:
        temporary = path + ".tmp"
        file = self.open(temporary, create=True)
        file.truncate(0)
        file.pwritev([content], 0)
        file.sync()
        self.rename(temporary, path)
        self.sync_dir(os.path.dirname(path))

    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    def list(self, path: str) -> list[str]:
        return sorted(self._expect_folder(path).entries)

    def make_dirs(self, path: str) -> None:
        folder = self._root
        for part in _parts(path):
            node = folder.entries.get(part)
            if node is None:
                self.before_change("mkdir", path)
                node = _Folder()
                folder.change({part: node})
            if not isinstance(node, _Folder):
                raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
            folder = node

    def rename(self, source: str, target: str) -> None:
        folder, old_name = self._parent(source)
        target_folder, new_name = self._parent(target)
        if target_folder is not folder:
            raise OSError(errno.EXDEV, "rename to another folder", target)
        node = folder.entries.get(old_name)
        if node is None:
            raise _missing(source)
        self.before_change("rename", source)
        folder.change({old_name: None, new_name: node})

    def remove(self, path: str) -> None:
        folder, name = self._parent(path)
        if name in folder.entries:
            self._expect_file(folder.entries[name], path)
            self.before_change("remove", path)
            folder.change({name: None})

    def remove_tree(self, path: str) -> None:
        folder, name = self._parent(path)
        if name in folder.entries:
            self.before_change("remove_tree", path)
            folder.change({name: None})

    def sync_dir(self, path: str) -> None:
        folder = self._expect_folder(path)
        self.before_change("sync_dir", path)
        folder.journal.clear()

    def lock(self, path: str) -> MemoryLock:
        if path in self._locked:
            raise BlockingIOError(f"{path} is locked")
        self.open(path, create=True)
        self._locked.add(path)
        return MemoryLock(self._locked, path)

    # Walking the tree

    def _find(self, path: str) -> _Node | None:
        node: _Node | None = self._root
        for part in _parts(path):
            if not isinstance(node, _Folder):
                return None
            node = node.entries.get(part)
        return node

    def _parent(self, path: str) -> tuple[_Folder, str]:
        *parents, name = _parts(path)
        return self._expect_folder("/".join(parents)), name

    def _expect_folder(self, path: str) -> _Folder:
        node = self._find(path)
        if node is None:
            raise _missing(path)
        if not isinstance(node, _Folder):
            raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
        return node

    def _expect_file(self, node: _Node | None, path: str) -> MemoryContent:
        if node is None:
            raise _missing(path)
        if isinstance(node, _Folder):
            raise IsADirectoryError(errno.EISDIR, "is a folder", path)
        return node


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _missing(path: str) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, "no such file or folder", path)


def _lose_power(folder: _Folder, rng: random.Random) -> None:
    folder.lose_power(rng)
    for _, node in sorted(folder.entries.items()):
        if isinstance(node, _Folder):
            _lose_power(node, rng)
        else:
            node.lose_power(rng)
