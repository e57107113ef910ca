"""One entry of log.dirs: its lock, whose it is, its partitions' logs and its checkpoints.

What concerns several directories, and the moves between them, is in ``log_dirs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from uuid import uuid4

from logquake.storage import file_names as names
from logquake.storage.dirs import clean_shutdown
from logquake.storage.dirs.deleted_folders import DeletedFolders
from logquake.storage.dirs.log_offsets import LogOffsets
from logquake.storage.dirs.stored_logs import StoredLog, future_place, log_path
from logquake.storage.disk.relocated_disk import RelocatedDisk
from logquake.storage.disk.seam import Disk, DiskSpace, Lock
from logquake.storage.errors import LogDirError, StorageError, disk_faults
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.open_files import OpenFiles
from logquake.wire.topic_partition import TopicPartition


def random_hex() -> str:
    return uuid4().hex


@dataclass(frozen=True, slots=True)
class LogDirOptions:
    """What a log directory is opened with, besides the disk and its path."""

    broker_id: int
    cluster_id: str
    now_ms: int
    # The settings of a topic's log, asked for every topic found in the directory.
    config_of: Callable[[str], LogConfig]
    # 32 hex digits for the names of folders that come and go; the simulation brings its own.
    unique: Callable[[], str] = random_hex
    # How many logs are opened at the same time.
    recovery_threads: int = 1
    # Bounds the descriptors of the segments in all directories that are opened with it.
    open_files: OpenFiles = field(default_factory=OpenFiles)


class LogDir:
    """``logs`` by (topic, partition). ``was_clean``: the last run stopped in order.

    ``futures`` are copies of logs that lie in other directories, whose places they will take.
    ``deleted`` are the folders of partitions that are gone, ``offsets`` the checkpoints.
    """

    def __init__(self, disk: Disk, path: str, options: LogDirOptions, lock: Lock) -> None:
        """Use open_log_dir(), which takes the lock and finds the logs."""
        self.path = path
        self.directory_id: str | None = None
        self.logs: dict[TopicPartition, Log] = {}
        self.futures: dict[TopicPartition, Log] = {}
        self.was_clean = False
        self._disk = disk
        self._options = options
        self._lock = lock
        self._terms = OpeningTerms(options.open_files)  # of new logs
        self.deleted = DeletedFolders(disk, path, options.unique)
        self.offsets = LogOffsets(
            disk, path, lambda: chain(self.logs.items(), self.futures.items())
        )
        self._places: dict[TopicPartition, RelocatedDisk] = {}  # of the futures

    @property
    def log_count(self) -> int:
        return len(self.logs) + len(self.futures)

    def log(self, topic: str, partition: int) -> Log | None:
        return self.logs.get(TopicPartition(topic, partition))

    def all_logs(self) -> Iterator[tuple[TopicPartition, Log]]:
        """The logs and the futures, each in order. No partition is in both."""
        yield from sorted(self.logs.items(), key=_key)
        yield from sorted(self.futures.items(), key=_key)

    def space(self) -> DiskSpace:
        """Of the file system; may block, and touches nothing that the owner's thread changes."""
        with disk_faults(self.path):
            return self._disk.space(self.path)

    # Logs come

    def adopt(self, stored: StoredLog, log: Log) -> None:
        """A log that was found here. Raises LogDirError for a second copy of one."""
        if stored.place is None:
            self._adopt(self.logs, stored.key, log)
        else:
            self._adopt_future(stored.key, log, stored.place)

    def make_place(self, topic: str, partition: int) -> None:
        """Make the partition's folder, as the proof that a log can be made here.

        A start after a crash takes it for the log. Raises StorageError.
        """
        key = TopicPartition(topic, partition)
        self.offsets.make_way(key)
        with disk_faults(self.path):
            self._disk.make_dirs(log_path(self.path, key))

    def create_log(
        self, topic: str, partition: int, topic_id: bytes | None, config: LogConfig
    ) -> Log:
        """A new, empty log, its topic id assigned if it has one, and not yet written.

        Raises StorageError.
        """
        key = TopicPartition(topic, partition)
        self.offsets.make_way(key)
        path = log_path(self.path, key)
        log = Log.open(self._disk, path, config, terms=self._terms)
        if topic_id is not None:
            log.assign_topic_id(topic_id)
        self._adopt(self.logs, key, log)
        return log

    def create_future(
        self, topic: str, partition: int, topic_id: bytes | None, config: LogConfig
    ) -> Log:
        """An empty log in a folder that ends in -future. Raises StorageError."""
        key = TopicPartition(topic, partition)
        self.offsets.make_way(key)
        name = names.future_dir(topic, partition, self._options.unique())
        place = future_place(self._disk, self.path, key, name)
        log = Log.open(place, place.named, config, terms=self._terms)
        if topic_id is not None:
            log.assign_topic_id(topic_id)
            log.write_topic_id()  # an interrupted move is known by it
        self._adopt_future(key, log, place)
        return log

    def promote_future(self, topic: str, partition: int) -> Log:
        """Let a future be the partition's log, under its final name. Raises StorageError."""
        key = TopicPartition(topic, partition)
        with disk_faults(self.path):
            self._places[key].settle()
        del self._places[key]
        log = self.logs[key] = self.futures.pop(key)
        return log

    # Logs are cut

    def prepare_cuts(self, cuts: Iterable[tuple[Log, int]]) -> None:
        """Write once what truncating each of these logs to its offset needs checkpointed before.

        Raises StorageError, and then each truncation does so for itself.
        """
        owing = [log for log, offset in cuts if log.prepare_cut(offset)]
        if owing:
            self.offsets.write_recovery_points()
            self.offsets.write_cleaned()
            for log in owing:
                log.note_checkpointed()

    # Logs go

    def delete_log(self, topic: str, partition: int) -> str | None:
        """Rename the partition's folder out of the way; its new path, for deleted.remove().

        deleted.sync() makes it last, of any number of logs at once; the checkpoints name it until
        they are written again, or another log of its name is made. Nothing happens, and None is
        answered, when there is no such log. Raises StorageError.
        """
        key = TopicPartition(topic, partition)
        if key not in self.logs:
            return None
        # First: a worker that still writes a file of it must not find its successor's folder.
        self.logs[key].close(clean=False)
        target = self.deleted.take(key, log_path(self.path, key))
        del self.logs[key]
        self.offsets.note_deletion()
        return target

    def delete_future(self, topic: str, partition: int) -> str | None:
        """The same for a future."""
        key = TopicPartition(topic, partition)
        log = self.futures.get(key)
        if log is None:
            return None
        target = self.deleted.take(key, self._places[key].actual)
        self.deleted.sync()
        del self.futures[key], self._places[key]
        log.close(clean=False)
        self.offsets.write_all()
        return target

    def set_aside(self, topic: str, partition: int) -> str:
        """The first half of a deletion, which take_back() undoes and forget() completes."""
        key = TopicPartition(topic, partition)
        self.logs[key].write_topic_id()
        target = self.deleted.take(key, log_path(self.path, key))
        self.deleted.sync()
        return target

    def take_back(self, topic: str, partition: int, path: str) -> None:
        self.deleted.give_back(path, log_path(self.path, TopicPartition(topic, partition)))

    def forget(self, topic: str, partition: int) -> None:
        """The second half of a deletion. Raises StorageError, the log forgotten all the same."""
        self.logs.pop(TopicPartition(topic, partition)).close(clean=False)
        self.offsets.write_all()

    # The end

    def close(self, clean: bool) -> None:
        """Close every log and let go of the directory; clean: the next start scans nothing.

        Raises StorageError after all of it, the directory then counting as unclean.
        """
        try:
            failed = self._close_logs(clean)
            if clean:
                self.offsets.write_all()
                if failed is not None:
                    raise failed
                with disk_faults(self.path):
                    clean_shutdown.leave_marker(self._disk, self.path)
        finally:
            self._lock.release()

    def abandon(self) -> None:
        """The disk has failed: let go of everything, write nothing."""
        for _, log in self.all_logs():
            with suppress(StorageError):
                log.close(clean=False)
        self._lock.release()

    def _close_logs(self, clean: bool) -> StorageError | None:
        """Close them all; the first error of those that could not be left clean."""
        first: StorageError | None = None
        for _, log in self.all_logs():
            try:
                log.close(clean)
            except StorageError as error:
                first = first or error
        return first

    def _adopt(self, logs: dict[TopicPartition, Log], key: TopicPartition, log: Log) -> None:
        log.checkpointed_by(self.offsets.write_recovery_points, self.offsets.write_cleaned)
        logs[key] = log

    def _adopt_future(self, key: TopicPartition, log: Log, place: RelocatedDisk) -> None:
        if key in self.futures or key in self.logs:
            raise LogDirError(
                f"{place.actual} copies a log of which {self.path} has another copy: remove one"
            )
        self._adopt(self.futures, key, log)
        self._places[key] = place


def _key(item: tuple[TopicPartition, Log]) -> TopicPartition:
    return item[0]
