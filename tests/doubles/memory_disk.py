"""A disk in memory that can fail and lose power: for the simulation and the crash tests.

    memory_tree.py     paths; cluster/faults/power/folder.py has the names, now and on the platter
    memory_content.py  a file's pages, in the cache and on the platter
    memory_file.py     open files
    memory_faults.py   which call fails; cluster/faults/power/unsynced.py has what a crash leaves

What differs from a real disk: a rename stays within its folder; files do not lose their content to
bit rot; what is read after a crash is what the platter has from then on.
"""

from __future__ import annotations

import copy
import errno
import random

from logquake.cluster.faults.disk.replacing import replace_in_steps
from logquake.cluster.faults.power.unsynced import PAGE_BYTES, Unsynced
from logquake.storage.disk.seam import DiskSpace
from tests.doubles.memory_content import MemoryContent
from tests.doubles.memory_faults import Faults, PowerCutError
from tests.doubles.memory_file import MemoryFile, MemoryLock
from tests.doubles.memory_tree import MemoryFolder, Tree, as_file, missing, parts_of

__all__ = ["MemoryDisk", "PowerCutError", "Unsynced"]


class MemoryDisk:
    """Disk in memory. ``faults`` counts the calls, and names them if it is told to.

    page_bytes is the unit that a loss of power keeps or loses; a small one tears small writes.
    """

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self.faults = Faults()
        self.capacity = DiskSpace(total=1 << 40, usable=1 << 39)  # what space() answers
        self._page_bytes = page_bytes
        self._tree = Tree()
        self._crashes = 0
        self._locked: set[str] = set()

    # Faults

    def fail_at(self, call: int, error: Exception, *, lasting: bool = False) -> None:
        """Let the call-th change from now (1: the next) raise error, a write after its first half.

        An OSError strikes once unless lasting; a PowerCutError lasts until crash().
        """
        self.faults.fail_change(call, error, lasting=lasting)

    def fail_read_at(self, call: int, error: OSError, *, lasting: bool = False) -> None:
        """As fail_at, of calls that read: pread, read, list, opening what exists."""
        self.faults.fail_read(call, error, lasting=lasting)

    def heal(self) -> None:
        self.faults.heal()

    def crash(self, unsynced: Unsynced, rng: random.Random | None = None) -> None:
        """End of the process (KEPT) or of the machine's power; rng for what is left to chance.

        Open files and locks are void afterwards; injected faults are gone.
        """
        self._crashes += 1
        self._locked = set()
        self.heal()
        if unsynced is not Unsynced.KEPT:
            self._tree.root.lose_power(unsynced, rng or random.Random(0))

    def fork(self) -> MemoryDisk:
        """The same disk at this moment, with a future of its own; no file of it is open."""
        other = MemoryDisk(self._page_bytes)
        other._tree = copy.deepcopy(self._tree)
        return other

    # Disk

    def open(self, path: str, *, create: bool = False) -> MemoryFile:
        folder, name = self._tree.parent(path)
        node = folder.entries.get(name)
        if node is None and create:
            self.faults.before_change("create", path)
            node = MemoryContent(self._page_bytes)
            folder.change({name: node})
        else:
            self.faults.before_read()
        crashes = self._crashes
        return MemoryFile(as_file(node, path), path, self.faults, lambda: self._crashes != crashes)

    def read(self, path: str) -> bytes:
        file = self.open(path)
        return file.pread(file.size(), 0)

    def replace(self, path: str, content: bytes) -> None:
        replace_in_steps(self, path, content)

    def exists(self, path: str) -> bool:
        return self._tree.find(path) is not None

    def list(self, path: str) -> list[str]:
        self.faults.before_read()
        return sorted(self._tree.folder(path).entries)

    def make_dirs(self, path: str) -> None:
        folder = self._tree.root
        for part in parts_of(path):
            node = folder.entries.get(part)
            if node is None:
                self.faults.before_change("mkdir", path)
                node = MemoryFolder()
                folder.change({part: node})
            if not isinstance(node, MemoryFolder):
                raise NotADirectoryError(errno.ENOTDIR, "not a folder", path)
            folder = node

    def rename(self, source: str, target: str) -> None:
        folder, old_name = self._tree.parent(source)
        target_folder, new_name = self._tree.parent(target)
        if target_folder is not folder:
            raise OSError(errno.EXDEV, "rename to another folder", target)
        node = folder.entries.get(old_name)
        if node is None:
            raise missing(source)
        self.faults.before_change("rename", source)
        folder.change({old_name: None, new_name: node})

    def remove(self, path: str) -> None:
        if self.exists(path):
            folder, name = self._tree.parent(path)
            as_file(folder.entries[name], path)
            self.faults.before_change("remove", path)
            folder.change({name: None})

    def remove_tree(self, path: str) -> None:
        node = self._tree.find(path)
        if isinstance(node, MemoryFolder):
            for inner in sorted(node.entries):
                self.remove_tree(f"{path}/{inner}")
        if node is not None:
            folder, name = self._tree.parent(path)
            self.faults.before_change("remove", path)
            folder.change({name: None})

    def sync_dir(self, path: str) -> None:
        folder = self._tree.folder(path)
        self.faults.before_change("sync_dir", path)
        folder.sync()

    def modified_ms(self, path: str) -> int:
        return self._file(path).modified_ms

    def set_modified_ms(self, path: str, time_ms: int) -> None:
        self._file(path).modified_ms = time_ms

    def lock(self, path: str) -> MemoryLock:
        if path in self._locked:
            raise BlockingIOError(f"{path} is locked")
        self.open(path, create=True)
        self._locked.add(path)
        return MemoryLock(self._locked, path)

    def space(self, path: str) -> DiskSpace:
        self._tree.folder(path)
        return self.capacity

    def _file(self, path: str) -> MemoryContent:
        folder, name = self._tree.parent(path)
        return as_file(folder.entries.get(name), path)
