"""Machines whose power goes: one in memory, one with files that are recorded. Both have a folder
``root/d`` with synced files, and pages of PAGE bytes.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import Protocol

from logquake.cluster.faults.power.record import Record
from logquake.cluster.faults.power.recorded_disk import RecordedDisk
from logquake.cluster.faults.power.taking_back import take_back
from logquake.cluster.faults.power.unsynced import Unsynced
from logquake.storage.disk.real_disk import RealDisk
from logquake.storage.disk.seam import Disk
from tests.doubles.memory_disk import MemoryDisk

PAGE = 8
ROUNDS = 40

Files = dict[str, bytes]
"""By their paths below the root; a folder's path ends in a slash and has no bytes."""


class PowerMachine(Protocol):
    root: str
    disk: Disk

    def lose_power(self, unsynced: Unsynced, seed: int) -> None:
        """Go on from what is left; open files are void."""

    def outcomes(self, unsynced: Unsynced) -> list[Files]:
        """What is left, by ROUNDS seeds; the machine itself goes on as if nothing had been."""


class MemoryMachine:
    root = "/root"

    def __init__(self) -> None:
        self._memory = MemoryDisk(PAGE)
        self.disk: Disk = self._memory
        self.disk.make_dirs(f"{self.root}/d")
        self.disk.sync_dir("/")
        self.disk.sync_dir(self.root)

    def lose_power(self, unsynced: Unsynced, seed: int) -> None:
        self._memory.crash(unsynced, random.Random(seed))

    def outcomes(self, unsynced: Unsynced) -> list[Files]:
        found = []
        for seed in range(ROUNDS):
            fork = self._memory.fork()
            fork.crash(unsynced, random.Random(seed))
            found.append(files_of(fork, self.root))
        return found


class RecordedMachine:
    def __init__(self, folder: Path) -> None:
        self.root = str(folder / "root")
        self._record_folder = folder / "record"
        self._saved = folder / "saved"
        (folder / "root" / "d").mkdir(parents=True)
        self._start()

    def _start(self) -> None:
        self.record = Record(self._record_folder, page_bytes=PAGE)
        self.disk: Disk = RecordedDisk(RealDisk(), self.record)

    def end_process(self) -> None:
        """As by kill -9, and a start: nothing is lost, the record goes on."""
        self.record.close()
        self._start()

    def lose_power(self, unsynced: Unsynced, seed: int) -> None:
        self.record.close()
        take_back(self._record_folder, unsynced, seed, page_bytes=PAGE)
        self._start()

    def outcomes(self, unsynced: Unsynced) -> list[Files]:
        found = []
        for seed in range(ROUNDS):
            self._save()
            self.lose_power(unsynced, seed)
            found.append(files_of(self.disk, self.root))
            self._restore()
        return found

    def _save(self) -> None:
        for folder in (Path(self.root), self._record_folder):
            shutil.copytree(folder, self._saved / folder.name)

    def _restore(self) -> None:
        self.record.close()
        for folder in (Path(self.root), self._record_folder):
            shutil.rmtree(folder)
            os.rename(self._saved / folder.name, folder)
        self._start()


def files_of(disk: Disk, root: str) -> Files:
    found: Files = {}

    def look(path: str) -> None:
        for name in disk.list(f"{root}/{path}"):
            try:
                found[path + name] = disk.read(f"{root}/{path}{name}")
            except IsADirectoryError:
                found[f"{path}{name}/"] = b""
                look(f"{path}{name}/")

    look("")
    return found
