"""Finding and opening the logs that lie in a log directory when a broker starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from logquake.storage import file_names as names
from logquake.storage.dirs.load_progress import LoadProgress
from logquake.storage.disk.relocated_disk import RelocatedDisk
from logquake.storage.disk.seam import Disk
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.open_files import OpenFiles
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class StoredLog:
    """``place`` is where a future lies; None for a partition's own log."""

    key: TopicPartition
    place: RelocatedDisk | None


@dataclass(frozen=True, slots=True)
class LastRun:
    """What the run before left behind: whether it ended in order, and its checkpoints."""

    was_clean: bool
    recovery_points: Mapping[TopicPartition, int]
    start_offsets: Mapping[TopicPartition, int]
    cleaner_offsets: Mapping[TopicPartition, int]


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


class LogOpener:
    """Opens logs of one directory. ``config_of`` is asked on the threads that open them."""

    def __init__(
        self,
        disk: Disk,
        path: str,
        last_run: LastRun,
        config_of: Callable[[str], LogConfig],
        progress: LoadProgress,
        open_files: OpenFiles,
        now_ms: int,
    ) -> None:
        self._disk = disk
        self._path = path
        self._last_run = last_run
        self._config_of = config_of
        self._progress = progress
        self._open_files = open_files
        self._now_ms = now_ms

    def open_all(self, found: Sequence[StoredLog], threads: int) -> Iterator[Log]:
        """In their order. Raises StorageError, LoadCancelledError, after which none is opened."""
        self._progress.total = len(found)
        if threads == 1:
            yield from self._told(map(self._open, found))
            return
        with ThreadPoolExecutor(threads, thread_name_prefix="log-recovery") as pool:
            yield from self._told(pool.map(self._open, found))

    def _told(self, logs: Iterator[Log]) -> Iterator[Log]:
        for log in logs:
            self._progress.note_opened(log.directory, log.recovery)
            yield log

    def _open(self, stored: StoredLog) -> Log:
        self._progress.check()
        key, last_run = stored.key, self._last_run
        return Log.open(
            stored.place or self._disk,
            log_path(self._path, key),
            self._config_of(key[0]),
            clean=last_run.was_clean,
            recovery_point=last_run.recovery_points.get(key, 0),
            log_start_offset=last_run.start_offsets.get(key, 0),
            cleaned_to=last_run.cleaner_offsets.get(key),
            now_ms=self._now_ms,
            open_files=self._open_files,
            scanned=self._progress.scanned,
        )
