"""Partition folders that were renamed out of the way and wait, as -delete, for their removal.

The name is free at once, so that a topic of the same name can be made.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import disk_faults
from logquake.storage.partition_metadata import read_topic_id
from logquake.wire.topic_partition import TopicPartition


class DeletedFolders:
    """Of one log directory; ``unique`` makes 32 hex digits for each name. Raises StorageError."""

    def __init__(self, disk: Disk, path: str, unique: Callable[[], str]) -> None:
        self._disk = disk
        self._path = path
        self._unique = unique

    def take(self, key: TopicPartition, folder: str) -> str:
        """Rename a folder that holds this partition; its new path, for remove().

        sync() makes it last: a rename that a power loss undoes would bring a deleted topic back.
        """
        target = names.join(self._path, names.deleted_dir(*key, self._unique()))
        with disk_faults(self._path):
            self._disk.rename(folder, target)
        return target

    def give_back(self, taken: str, folder: str) -> None:
        """Undo take(), durably."""
        with disk_faults(self._path):
            self._disk.rename(taken, folder)
        self.sync()

    def sync(self) -> None:
        """May be called on any thread; blocks."""
        with disk_faults(self._path):
            self._disk.sync_dir(self._path)

    def remove(self, path: str) -> None:
        """Free the space, some file.delete.delay.ms later. On any thread; blocks."""
        with disk_faults(self._path):
            self._disk.remove_tree(path)

    def paths(self) -> list[str]:
        """Those whose space is not yet free, of earlier runs too."""
        with disk_faults(self._path):
            found = filter(names.is_deleted_dir, self._disk.list(self._path))
            return [names.join(self._path, name) for name in found]

    def holds(self, key: TopicPartition, topic_id: bytes | None) -> bool:
        """Whether one of them held this partition of this very topic."""
        for path in self.paths():
            if names.parse_deleted_dir(names.last_part(path)) == key:
                with disk_faults(path):
                    if read_topic_id(self._disk, path) == topic_id:
                        return True
        return False
