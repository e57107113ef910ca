"""The logs that lie in a log directory when a broker starts, by the names of their folders."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.storage import file_names as names
from logquake.storage.disk.relocated_disk import RelocatedDisk
from logquake.storage.disk.seam import Disk
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class StoredLog:
    """``place`` is where a future lies; None for a partition's own log."""

    key: TopicPartition
    place: RelocatedDisk | None


def find_logs(disk: Disk, path: str) -> list[StoredLog]:
    """In order of the folders' names. Raises OSError."""
    found = []
    for name in disk.list(path):
        if key := names.parse_partition_dir(name):
            found.append(StoredLog(key, None))
        elif key := names.parse_future_dir(name):
            found.append(StoredLog(key, future_place(disk, path, key, name)))
    return found


def future_place(disk: Disk, path: str, key: TopicPartition, name: str) -> RelocatedDisk:
    """Where a future lies until it becomes the partition's log."""
    return RelocatedDisk(disk, log_path(path, key), names.join(path, name))


def log_path(path: str, key: TopicPartition) -> str:
    return names.join(path, names.partition_dir(*key))
