"""The checkpoint files of one log directory: offsets by partition, written when they changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage.checkpoint_files import DamagedCheckpointError, TopicPartition
from logquake.storage.disk import Disk
from logquake.storage.errors import disk_faults
from logquake.storage.file_names import join

_FILES = (
    checkpoints.RECOVERY_POINTS,
    checkpoints.HIGH_WATERMARKS,
    checkpoints.LOG_START_OFFSETS,
    checkpoints.CLEANER_OFFSETS,
)


class DirCheckpoints:
    """By file name, as in ``checkpoint_files``. Raises StorageError."""

    def __init__(self, disk: Disk, path: str) -> None:
        self._disk = disk
        self._path = path
        self._written: dict[str, dict[TopicPartition, int]] = {}

    def read(self, name: str) -> dict[TopicPartition, int]:
        """Empty when the file is missing, or damaged as in Kafka: it is then found out anew."""
        with disk_faults(self._path):
            try:
                return checkpoints.read_offsets(self._disk, join(self._path, name))
            except DamagedCheckpointError:
                return {}

    def has(self, name: str) -> bool:
        return self._disk.exists(join(self._path, name))

    def write(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is done when the file has these already."""
        if self._written.get(name) == offsets:
            return
        self._written.pop(name, None)
        with disk_faults(self._path):
            checkpoints.write_offsets(self._disk, join(self._path, name), offsets)
        self._written[name] = dict(offsets)

    def drop_others(self, known: Collection[TopicPartition]) -> None:
        """Drop the entries of partitions that are not known.

        A crash within a deletion leaves them. A log that is made under such a name is another one:
        recovery would trust what was never synced, or drop what is below its predecessor's start.
        """
        for name in _FILES:
            offsets = self.read(name)
            kept = {key: offset for key, offset in offsets.items() if key in known}
            if kept != offsets:
                self.write(name, kept)
