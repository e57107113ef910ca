"""One entry of log.dirs: its lock, whose it is, its partitions' logs and its checkpoints.

Kafka's LogManager, for one directory. Absent: more than one directory, reassignment between
directories, retention. Logs are opened one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage import clean_shutdown
from logquake.storage import file_names as names
from logquake.storage.checkpoint_files import DamagedCheckpointError, TopicPartition
from logquake.storage.disk import Disk, Lock
from logquake.storage.errors import LogDirError, StorageError, disk_faults
from logquake.storage.load_progress import LoadProgress
from logquake.storage.log import Log
from logquake.storage.log_config import LogConfig
from logquake.storage.meta_properties import MetaProperties, claim

LOCK_FILE = ".lock"


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
    # 32 hex digits for the name of a partition being deleted; the simulation brings its own.
    unique: Callable[[], str] = random_hex


class LogDir:
    """``logs`` by (topic, partition). ``was_clean``: the last run stopped in order."""

    def __init__(self, disk: Disk, path: str, options: LogDirOptions, lock: Lock) -> None:
        """Use LogDir.open."""
        self.path = path
        self.logs: dict[TopicPartition, Log] = {}
        self.was_clean = False
        self._disk = disk
        self._options = options
        self._lock = lock
        self._written: dict[str, dict[TopicPartition, int]] = {}  # checkpoints, by file name

    @classmethod
    def open(
        cls,
        disk: Disk,
        path: str,
        options: LogDirOptions,
        progress: LoadProgress | None = None,
    ) -> LogDir:
        """Lock the directory, created when missing, and open every log in it.

        Blocks: after an unclean stop logs are scanned. Nothing here is shared with other threads
        but progress. Raises LogDirError when it is in use or somebody else's, StorageError for the
        disk's faults, LoadCancelledError.
        """
        with disk_faults(path):
            if not disk.exists(path):
                disk.make_dirs(path)
                disk.sync_dir(names.parent(path))
            lock = _take_lock(disk, path)
        log_dir = cls(disk, path, options, lock)
        try:
            with disk_faults(path):
                log_dir._load(progress or LoadProgress())
        except BaseException:
            lock.release()
            raise
        return log_dir

    def log(self, topic: str, partition: int) -> Log | None:
        return self.logs.get((topic, partition))

    def create_log(self, topic: str, partition: int, topic_id: bytes, config: LogConfig) -> Log:
        """A new, empty log, its topic id recorded. Raises StorageError."""
        directory = names.join(self.path, names.partition_dir(topic, partition))
        log = Log.open(self._disk, directory, config, clean=True)
        log.assign_topic_id(topic_id)
        self._adopt((topic, partition), log)
        return log

    def delete_log(self, topic: str, partition: int) -> str | None:
        """Rename the partition's folder out of the way; its new path, for remove_deleted().

        A topic of the same name can be made at once. Nothing happens, and None is answered, when
        there is no such log. Raises StorageError.
        """
        log = self.logs.get((topic, partition))
        if log is None:
            return None
        target = names.join(self.path, names.deleted_dir(topic, partition, self._options.unique()))
        with disk_faults(self.path):
            self._disk.rename(log.directory, target)
            # A rename that a power loss undoes would bring a deleted topic back.
            self._disk.sync_dir(self.path)
        del self.logs[topic, partition]
        log.close(clean=False)
        self._write_checkpoints()
        return target

    def remove_deleted(self, path: str) -> None:
        """Free a deleted partition's space, some file.delete.delay.ms after delete_log()."""
        with disk_faults(self.path):
            self._disk.remove_tree(path)

    def deleted(self) -> list[str]:
        """Paths of deleted partitions whose space is not yet free, of earlier runs too."""
        with disk_faults(self.path):
            found = filter(names.is_deleted_dir, self._disk.list(self.path))
            return [names.join(self.path, name) for name in found]

    # Checkpoints

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """As last written; empty when the file is missing or damaged."""
        with disk_faults(self.path):
            return self._read_offsets(checkpoints.HIGH_WATERMARKS)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._write_offsets(checkpoints.HIGH_WATERMARKS, offsets)

    def write_recovery_points(self) -> None:
        """Record what is synced: a crash makes the next start scan from there."""
        points = {key: log.recovery_point for key, log in self.logs.items()}
        self._write_offsets(checkpoints.RECOVERY_POINTS, points)

    def write_log_start_offsets(self) -> None:
        starts = {key: log.start_offset for key, log in self.logs.items() if log.start_offset}
        self._write_offsets(checkpoints.LOG_START_OFFSETS, starts)

    def close(self, clean: bool) -> None:
        """Close every log and let go of the directory; clean: the next start scans nothing.

        Raises StorageError after all of it, the directory then counting as unclean.
        """
        try:
            failed = self._close_logs(clean)
            if clean:
                self._write_checkpoints()
                if failed is not None:
                    raise failed
                with disk_faults(self.path):
                    clean_shutdown.leave_marker(self._disk, self.path)
        finally:
            self._lock.release()

    def _close_logs(self, clean: bool) -> StorageError | None:
        """Close them all; the first error of those that could not be left clean."""
        first: StorageError | None = None
        for _, log in sorted(self.logs.items()):
            try:
                log.close(clean)
            except StorageError as error:
                first = first or error
        return first

    def _load(self, progress: LoadProgress) -> None:
        options = self._options
        owner = MetaProperties(options.broker_id, options.cluster_id)
        claim(self._disk, self.path, owner, options.now_ms)
        self.was_clean = clean_shutdown.take_marker(self._disk, self.path)
        recovery_points = self._read_offsets(checkpoints.RECOVERY_POINTS)
        start_offsets = self._read_offsets(checkpoints.LOG_START_OFFSETS)
        found = [(name, names.parse_partition_dir(name)) for name in self._disk.list(self.path)]
        keys = {name: key for name, key in found if key is not None}
        progress.total = len(keys)
        for name, key in keys.items():
            progress.check()
            log = Log.open(
                self._disk,
                names.join(self.path, name),
                options.config_of(key[0]),
                clean=self.was_clean,
                recovery_point=recovery_points.get(key, 0),
                log_start_offset=start_offsets.get(key, 0),
            )
            self._adopt(key, log)
            progress.note(log.recovery.scanned_bytes)

    def _adopt(self, key: TopicPartition, log: Log) -> None:
        log.when_recovery_point_lowered(self.write_recovery_points)
        self.logs[key] = log

    def _write_checkpoints(self) -> None:
        self.write_recovery_points()
        self.write_log_start_offsets()

    def _read_offsets(self, name: str) -> dict[TopicPartition, int]:
        try:
            return checkpoints.read_offsets(self._disk, names.join(self.path, name))
        except DamagedCheckpointError:
            return {}  # as Kafka: recovery then scans everything

    def _write_offsets(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        """Nothing is done when the file has these already."""
        if self._written.get(name) == offsets:
            return
        self._written.pop(name, None)
        with disk_faults(self.path):
            checkpoints.write_offsets(self._disk, names.join(self.path, name), offsets)
        self._written[name] = dict(offsets)


def _take_lock(disk: Disk, path: str) -> Lock:
    try:
        return disk.lock(names.join(path, LOCK_FILE))
    except BlockingIOError as error:
        raise LogDirError(
            f"{path} is in use by another broker: stop it, or use another log.dirs"
        ) from error
