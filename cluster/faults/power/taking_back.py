"""What a loss of power does to the files of a broker that ended: from its record, to the disk."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from logquake.cluster.faults.power.record import Node, Record, RecordedFolder, walk
from logquake.cluster.faults.power.recorded_file import RecordedFile
from logquake.cluster.faults.power.unsynced import PAGE_BYTES, Unsynced


@dataclass(frozen=True, slots=True)
class TakenBack:
    """``files`` whose bytes changed, the ``bytes`` by which they are shorter, ``names`` that stand
    for something else, and how often all had been ``written_back`` because it was too much.
    """

    files: int
    bytes: int
    names: int
    written_back: int


def take_back(
    folder: Path, unsynced: Unsynced, seed: int, *, page_bytes: int = PAGE_BYTES
) -> TakenBack:
    """Let the files be as the platter has them; the record begins anew. Raises OSError.

    The broker's process must have ended.
    """
    with contextlib.closing(Record(folder, page_bytes=page_bytes)) as record:
        names = _Names(record, folder / "moving")
        files = [one for one in record.nodes() if isinstance(one, RecordedFile)]
        places = record.places()
        for file in files:
            file.place = places[file.number]
        record.root.lose_power(unsynced, Random(seed))
        changed = names.settle()
        lost = [file.lost_bytes for file in files if file.lost_bytes is not None]
        taken_back = TakenBack(len(lost), sum(lost), changed, record.written_back)
    shutil.rmtree(folder)
    return taken_back


class _Names:
    """The names as they were when the power went; settle() gives each what it stands for since."""

    def __init__(self, record: Record, moving: Path) -> None:
        self._record = record
        self._moving = moving
        self._places = record.places()
        self._folders = [
            (path, node, dict(node.entries))
            for path, node in [("", record.root), *walk(record.root)]
            if isinstance(node, RecordedFolder)
        ]
        self._changed = 0

    def settle(self) -> int:
        """How many names stand for something else. What no name stands for stays where it is."""
        self._moving.mkdir(exist_ok=True)
        for path, folder, before in reversed(self._folders):  # what is in a folder before itself
            for name, node in before.items():
                if folder.entries.get(name) is not node:
                    self._move(f"{path}/{name}", node)
        self._fill(self._record.root, "", {folder: before for _, folder, before in self._folders})
        return self._changed

    def _move(self, path: str, node: Node) -> None:
        self._changed += 1
        self._places[node.number] = str(self._moving / str(node.number))
        _rename(path, self._places[node.number])

    def _fill(
        self, folder: RecordedFolder, path: str, before: dict[RecordedFolder, dict[str, Node]]
    ) -> None:
        for name, node in folder.entries.items():
            if before.get(folder, {}).get(name) is not node:
                self._changed += 1
                _rename(self._places[node.number], f"{path}/{name}")
            if isinstance(node, RecordedFolder):
                self._fill(node, f"{path}/{name}", before)


def _rename(source: str, target: str) -> None:
    """Nothing if it was never made: the process ended between writing that down and doing it."""
    with contextlib.suppress(FileNotFoundError):
        os.rename(source, target)
