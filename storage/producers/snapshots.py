"""The snapshot files of a log's producers: one at every roll, and at the end of a clean stop.

Follows ProducerStateManager. How they are used after a start is in recovery.py.
"""

from __future__ import annotations

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk, File
from logquake.storage.producers.snapshot import DamagedSnapshotError, decode_snapshot
from logquake.storage.producers.state import ProducerStates


class ProducerSnapshots:
    def __init__(self, disk: Disk, directory: str) -> None:
        self._disk = disk
        self._directory = directory

    def write(self, offset: int, content: bytes) -> File:
        """Write the snapshot without syncing it; the file, to be synced."""
        file = self._disk.open(self._path(offset), create=True)
        file.truncate(0)
        file.pwritev([content], 0)
        return file

    def offsets(self) -> list[int]:
        return names.offsets_with(self._disk.list(self._directory), names.SNAPSHOT_SUFFIX)

    def delete_outside(self, start_offset: int, end_offset: int) -> None:
        """Delete the snapshots that are not in (start_offset, end_offset]."""
        for offset in self.offsets():
            if not start_offset < offset <= end_offset:
                self._disk.remove(self._path(offset))

    def delete_all(self) -> None:
        for offset in self.offsets():
            self._disk.remove(self._path(offset))

    def set_aside(self, offset: int) -> list[str]:
        """Let the snapshot's name end in .deleted; its new path, if there is one."""
        path = self._path(offset)
        if not self._disk.exists(path):
            return []
        target = path + names.DELETED_FILE_SUFFIX
        self._disk.rename(path, target)
        return [target]

    def prune(self, base_offsets: set[int]) -> None:
        """Keep those that begin a segment, and a clean stop's at the end (removeStraySnapshots)."""
        end = max(base_offsets, default=-1)
        offsets = self.offsets()
        for offset in offsets:
            is_at_end = offset == offsets[-1] and offset > end
            if offset not in base_offsets and not is_at_end:
                self._disk.remove(self._path(offset))

    def open_files(self, from_offset: int, to_offset: int) -> list[File]:
        """The files of the snapshots at these offsets, both included, to be synced."""
        kept = [offset for offset in self.offsets() if from_offset <= offset <= to_offset]
        return [self._disk.open(self._path(offset)) for offset in kept]

    def load_latest(self, states: ProducerStates, start_offset: int) -> None:
        """From the latest intact snapshot; the damaged ones on the way are removed."""
        for offset in reversed(self.offsets()):
            try:
                states.load(decode_snapshot(self._disk.read(self._path(offset))), offset)
            except DamagedSnapshotError:
                self._disk.remove(self._path(offset))
            else:
                return
        states.load((), start_offset)

    def _path(self, offset: int) -> str:
        return names.join(self._directory, names.offset_file(offset, names.SNAPSHOT_SUFFIX))
