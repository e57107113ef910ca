"""All entries of log.dirs (Kafka's LogManager): where a partition's log is, or where it goes.

A directory whose disk fails goes offline, its logs with it, until the broker's next start; the
others go on. Whatever fails here is told to ``on_failure``, which decides; fail() then carries it
out. As in Kafka, with a directory offline no log is made for a partition that is not new: it may
lie in that directory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from logquake.storage.dirs.checkpoints import GradualCheckpoint, PendingCheckpoint
from logquake.storage.dirs.deleted_folders import DeletedFolders
from logquake.storage.dirs.interrupted_moves import check_distinct, finish_interrupted_moves
from logquake.storage.dirs.log_dir import LogDir
from logquake.storage.errors import LogDirError, StorageError
from logquake.storage.file_names import parent
from logquake.storage.log.log import Log
from logquake.storage.log_config import LogConfig
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class OfflineDir:
    """A directory that cannot be used, and why."""

    path: str
    why: str


class LogDirs:
    """``paths`` are log.dirs in order. ``on_failure`` is told of a directory's path, and why."""

    def __init__(self, directories: Sequence[LogDir | OfflineDir]) -> None:
        """Raises LogDirError where none is usable, or a partition lies in two of them."""
        self.paths = tuple(directory.path for directory in directories)
        self.online = {each.path: each for each in directories if isinstance(each, LogDir)}
        self.offline = {each.path: each.why for each in directories if isinstance(each, OfflineDir)}
        self.on_failure: Callable[[str, str], None] = _ignore
        self._preferred: dict[TopicPartition, str] = {}
        self._require_one()
        check_distinct(self.online.values())
        if not self.offline:
            self._finish_moves()

    def describe_offline(self) -> str:
        """For the one line with which a broker ends that has no directory left."""
        return "; ".join(f"{path} ({why})" for path, why in self.offline.items())

    # Where logs are

    def directory_of(self, log: Log) -> LogDir | None:
        """None when it went offline."""
        return self.online.get(parent(log.directory))

    def log(self, topic: str, partition: int) -> Log | None:
        found = (
            directory.logs.get(TopicPartition(topic, partition))
            for directory in self.online.values()
        )
        return next(filter(None, found), None)

    def future(self, topic: str, partition: int) -> Log | None:
        found = (
            directory.futures.get(TopicPartition(topic, partition))
            for directory in self.online.values()
        )
        return next(filter(None, found), None)

    def partitions(self) -> Iterator[TopicPartition]:
        for directory in self.online.values():
            yield from directory.logs
            yield from directory.futures

    # Logs come and go

    def prefer(self, topic: str, partition: int, path: str) -> None:
        """Make the partition's next log, or future, in this directory."""
        logs = (self.log(topic, partition), self.future(topic, partition))
        if not any(log is not None and parent(log.directory) == path for log in logs):
            self._preferred[TopicPartition(topic, partition)] = path

    def create_log(
        self, topic: str, partition: int, topic_id: bytes | None, config: LogConfig, *, is_new: bool
    ) -> Log:
        """A new, empty log in the preferred directory, or in the one with the fewest logs.

        Where a directory refuses the very folder, the next one is tried. Raises StorageError.
        """
        if not is_new:
            self._require_all_online()
        directory = self._place_for(topic, partition)
        log = directory.create_log(topic, partition, topic_id, config)
        self._preferred.pop(TopicPartition(topic, partition), None)
        return log

    def create_future(self, topic: str, partition: int, current: Log) -> Log:
        """An empty copy of current in the preferred directory. Raises StorageError."""
        self._require_all_online()
        path = self._preferred.pop(TopicPartition(topic, partition))
        return self.online[path].create_future(topic, partition, current.topic_id, current.config)

    def promote_future(self, topic: str, partition: int) -> str:
        """Let the future take the current log's place; the path of what is to be removed later.

        The current one is renamed away first: where a crash comes between, the next start goes on
        with the future (finish_interrupted_moves). Kafka begins with the future, and after such a
        crash finds the partition in two directories. Raises StorageError, all being as before if
        it is the future's disk that failed.
        """
        current, future = self.log(topic, partition), self.future(topic, partition)
        source = self.directory_of(current) if current else None
        target = self.directory_of(future) if future else None
        if source is None or target is None:
            raise ValueError(f"{topic}-{partition} is not being moved")
        set_aside = source.set_aside(topic, partition)
        try:
            moved = target.promote_future(topic, partition)
        except StorageError:
            source.take_back(topic, partition, set_aside)
            raise
        self._attempt(source, lambda directory: directory.forget(topic, partition))
        if current is not None:
            moved.cleaning.cleaned_to = current.cleaning.cleaned_to
        self._attempt(target, lambda directory: directory.offsets.write_all())
        return set_aside

    def prepare_cuts(self, cuts: Iterable[tuple[Log, int]]) -> None:
        """Before many logs are truncated, each to its offset: one checkpoint a directory for all.

        LogManager.truncateTo, which writes it after the cuts.
        """
        by_directory: defaultdict[str, list[tuple[Log, int]]] = defaultdict(list)
        for log, offset in cuts:
            by_directory[parent(log.directory)].append((log, offset))
        self._attempt_all(lambda its: its.prepare_cuts(by_directory.get(its.path, ())))

    def delete_log(self, topic: str, partition: int) -> list[str]:
        """Rename the partition's folders away, its future's first; their paths.

        In this order a crash never leaves a future alone, which would look like a move. What
        deleted_folders() answers makes it last. Raises StorageError, also where there is no log
        and it may be in a directory that is offline.
        """
        self._preferred.pop(TopicPartition(topic, partition), None)
        paths = self.delete_future(topic, partition)
        deleted = [each.delete_log(topic, partition) for each in self.online.values()]
        found = [path for path in deleted if path is not None]
        if not found:
            self._require_all_online()
        return paths + found

    def deleted_folders(self, paths: Iterable[str]) -> dict[str, DeletedFolders]:
        """By directory: to sync them makes the deletions last that renamed to these paths."""
        directories = dict.fromkeys(map(parent, paths))
        return {path: self.online[path].deleted for path in directories if path in self.online}

    def delete_future(self, topic: str, partition: int) -> list[str]:
        """Rename the future's folder away; its path, if there is one. Raises StorageError."""
        deleted = [each.delete_future(topic, partition) for each in self.online.values()]
        return [path for path in deleted if path is not None]

    def deleted(self) -> list[str]:
        """Paths of deleted partitions whose space is not yet free, of earlier runs too."""
        found: list[str] = []
        self._attempt_all(lambda directory: found.extend(directory.deleted.paths()))
        return found

    def removal_of(self, paths: Iterable[str]) -> Callable[[], None]:
        """What frees the space of these, which delete_log() and the like named.

        For any thread; blocks. Raises StorageError, what it names being freed by the next start.
        """
        folders = [(self.online[parent(p)].deleted, p) for p in paths if parent(p) in self.online]

        def remove() -> None:
            for deleted, path in folders:
                deleted.remove(path)

        return remove

    # Checkpoints

    def high_watermarks(self) -> dict[str, dict[TopicPartition, int]]:
        """By directory, as last written."""
        marks: dict[str, dict[TopicPartition, int]] = {}

        def read(directory: LogDir) -> None:
            marks[directory.path] = directory.offsets.high_watermarks()

        self._attempt_all(read)
        return marks

    def write_high_watermarks(self, marks: Mapping[str, Mapping[TopicPartition, int]]) -> None:
        """By directory."""
        self._attempt_all(lambda its: its.offsets.write_high_watermarks(marks.get(its.path, {})))

    def begin_high_watermarks(
        self, marks: Mapping[str, Mapping[TopicPartition, int]]
    ) -> list[PendingCheckpoint]:
        """What is to be written, for any thread."""
        return self._begin(lambda its: its.offsets.begin_high_watermarks(marks.get(its.path, {})))

    def collect_recovery_points(self) -> list[GradualCheckpoint]:
        return [directory.offsets.collect_recovery_points() for directory in self.online.values()]

    def collect_log_starts(self) -> list[GradualCheckpoint]:
        return [directory.offsets.collect_log_starts() for directory in self.online.values()]

    def collect_all(self) -> list[GradualCheckpoint]:
        """All that the logs themselves tell."""
        return [each for one in self.online.values() for each in one.offsets.collect_all()]

    def _begin(
        self, begin: Callable[[LogDir], PendingCheckpoint | None]
    ) -> list[PendingCheckpoint]:
        begun = (begin(directory) for directory in self.online.values())
        return [pending for pending in begun if pending is not None]

    def write_cleaner_offsets(self) -> None:
        self._attempt_all(lambda its: its.offsets.write_cleaned())

    # Failing and ending

    def report(self, error: StorageError) -> None:
        """Tell of a fault that no one of the logs stands for."""
        path = self._path_of(error)
        if path is not None:
            self.on_failure(path, str(error))

    def report_failure(self, path: str, why: str) -> None:
        """Tell of a directory's fault."""
        self.on_failure(path, why)

    def fail(self, path: str, why: str) -> None:
        """Take a directory offline: its logs are closed as they are."""
        directory = self.online.pop(path)
        self.offline[path] = why
        directory.abandon()

    def close(self, clean: bool) -> None:
        """Close every directory. Raises the first StorageError after all of it."""
        first: StorageError | None = None
        for directory in self.online.values():
            try:
                directory.close(clean)
            except StorageError as error:
                first = first or error
        if first is not None:
            raise first

    def _require_one(self) -> None:
        if not self.online:
            raise LogDirError(f"no log directory can be used: {self.describe_offline()}")

    def _finish_moves(self) -> None:
        try:
            finish_interrupted_moves(self.online.values())
        except StorageError as error:
            path = self._path_of(error)
            if path is not None:
                self.fail(path, str(error))
            self._require_one()

    def _path_of(self, error: StorageError) -> str | None:
        holds = (p for p in self.paths if error.path == p or error.path.startswith(p + "/"))
        return max(holds, key=len, default=None)

    def _place_for(self, topic: str, partition: int) -> LogDir:
        preferred = self._preferred.get(TopicPartition(topic, partition))
        candidates = sorted(self.online.values(), key=lambda each: each.log_count)
        if preferred is not None:
            candidates = [each for each in candidates if each.path == preferred]
        for directory in candidates:
            try:
                directory.make_place(topic, partition)
            except StorageError as error:
                self.report(error)
            else:
                return directory
        raise StorageError(
            preferred or self.paths[0],
            f"no directory takes {topic}-{partition}; offline: {self.describe_offline()}",
        )

    def _require_all_online(self) -> None:
        if self.offline:
            path = next(iter(self.offline))
            raise StorageError(path, f"the log may be in a directory that is offline: {path}")

    def _attempt_all(self, action: Callable[[LogDir], None]) -> None:
        for directory in list(self.online.values()):
            self._attempt(directory, action)

    def _attempt(self, directory: LogDir, action: Callable[[LogDir], None]) -> None:
        """What fails here fails the directory, and nobody else."""
        try:
            action(directory)
        except StorageError as error:
            self.on_failure(directory.path, str(error))


def _ignore(_path: str, _why: str) -> None:
    """Nobody listens yet: a fault that lasts will be met again."""
