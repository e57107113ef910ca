"""A log directory, from its lock to its last log: what a start does (Kafka's LogManager.loadLogs).

LogDirOpening.run() is to be read from top to bottom. Each log's own part of the story is
log/opening.py. What concerns several directories, moves that were interrupted among it, comes when
all of them are open (log_dirs.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from logquake.storage import checkpoint_files as checkpoints
from logquake.storage import file_names as names
from logquake.storage.dirs import clean_shutdown
from logquake.storage.dirs.checkpoints import DirCheckpoints
from logquake.storage.dirs.load_progress import LoadProgress
from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.meta_properties import MetaProperties, claim
from logquake.storage.dirs.stored_logs import StoredLog, find_logs, log_path
from logquake.storage.disk.seam import Disk, Lock
from logquake.storage.errors import LogDirError, disk_faults
from logquake.storage.log.last_run import CleanStop, LastRun, UncleanStop
from logquake.storage.log.log import Log
from logquake.storage.log.opening import OpeningTerms
from logquake.wire.topic_partition import TopicPartition

LOCK_FILE = ".lock"


def open_log_dir(
    disk: Disk, path: str, options: LogDirOptions, progress: LoadProgress | None = None
) -> LogDir:
    """Lock the directory, created when missing, and open every log in it.

    Blocks: after an unclean stop logs are scanned. Nothing here is shared with other threads
    but progress. Raises LogDirError when it is in use or somebody else's, StorageError for the
    disk's faults, LoadCancelledError.
    """
    with disk_faults(path):
        return LogDirOpening(disk, path, options, progress or LoadProgress()).run()


@dataclass(frozen=True, slots=True)
class LeftBehind:
    """What the run before left in the directory: whether it ended in order, and its checkpoints."""

    was_clean: bool
    recovery_points: Mapping[TopicPartition, int]
    start_offsets: Mapping[TopicPartition, int]
    cleaner_offsets: Mapping[TopicPartition, int]

    def of(self, key: TopicPartition) -> LastRun:
        """For one log, whether or not the checkpoints know it."""
        return LastRun(
            CleanStop() if self.was_clean else UncleanStop(self.recovery_points.get(key, 0)),
            self.start_offsets.get(key, 0),
            self.cleaner_offsets.get(key),
        )


class LogDirOpening:
    """One opening of one directory."""

    def __init__(
        self, disk: Disk, path: str, options: LogDirOptions, progress: LoadProgress
    ) -> None:
        self._disk = disk
        self._path = path
        self._options = options
        self._progress = progress

    def run(self) -> LogDir:
        """Raises as open_log_dir(), and OSError; the directory is then left unlocked."""
        self._make_folder()
        lock = self._take_lock()
        try:
            owner = MetaProperties(self._options.broker_id, self._options.cluster_id)
            claimed = claim(self._disk, self._path, owner, self._options.now_ms)
            left = self._take_what_was_left()
            log_dir = LogDir(self._disk, self._path, self._options, lock)
            log_dir.directory_id, log_dir.was_clean = claimed.directory_id, left.was_clean
            found = find_logs(self._disk, self._path)
            for stored, log in zip(found, self._open_all(found, left), strict=True):
                log_dir.adopt(stored, log)
            log_dir.offsets.files.drop_others({stored.key for stored in found})
        except BaseException:
            lock.release()
            raise
        return log_dir

    def _make_folder(self) -> None:
        if not self._disk.exists(self._path):
            self._disk.make_dirs(self._path)
            self._disk.sync_dir(names.parent(self._path))

    def _take_lock(self) -> Lock:
        try:
            return self._disk.lock(names.join(self._path, LOCK_FILE))
        except BlockingIOError as error:
            raise LogDirError(
                f"{self._path} is in use by another broker: stop it, or use another log.dirs"
            ) from error

    def _take_what_was_left(self) -> LeftBehind:
        """The mark of a clean stop goes first: a crash amid what follows is an unclean one."""
        was_clean = clean_shutdown.take_marker(self._disk, self._path)
        files = DirCheckpoints(self._disk, self._path)
        return LeftBehind(
            was_clean,
            files.read(checkpoints.RECOVERY_POINTS),
            files.read(checkpoints.LOG_START_OFFSETS),
            files.read(checkpoints.CLEANER_OFFSETS),
        )

    def _open_all(self, found: Sequence[StoredLog], left: LeftBehind) -> Iterator[Log]:
        """In their order, on num.recovery.threads.per.data.dir threads."""
        self._progress.total = len(found)
        terms = OpeningTerms(self._options.open_files, self._options.now_ms, self._progress.scanned)

        def open_one(stored: StoredLog) -> Log:
            self._progress.check()
            key = stored.key
            place = stored.place or self._disk
            config = self._options.config_of(key.topic)
            return Log.open(place, log_path(self._path, key), config, left.of(key), terms)

        if self._options.recovery_threads == 1:
            yield from self._told(map(open_one, found))
            return
        threads = self._options.recovery_threads
        with ThreadPoolExecutor(threads, thread_name_prefix="log-recovery") as pool:
            yield from self._told(pool.map(open_one, found))

    def _told(self, logs: Iterator[Log]) -> Iterator[Log]:
        for log in logs:
            self._progress.note_opened(log.directory, log.recovery)
            yield log
