"""All moves of one broker: asked for, resumed after a restart, called off, and their end.

Rules and error codes are Kafka's (ReplicaManager.alterReplicaLogDirs, maybeAddLogDirFetchers).
A partition that moves is not compacted: a tombstone could vanish before it was copied, and what it
deleted, copied before, would come back.
"""

from __future__ import annotations

from logquake.node.journal_events import (
    REPLICA_MOVE_BEGUN,
    REPLICA_MOVE_CALLED_OFF,
    REPLICA_MOVE_ENDED,
    REPLICA_MOVED,
)
from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.node.replication.cleaner.log_cleaner import LogCleaner
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.hosting import Hosting
from logquake.node.replication.moves.alignment import complete
from logquake.node.replication.moves.move import MoveTools, ReplicaMove
from logquake.node.replication.partition.partition import Partition, PartitionContext
from logquake.node.replication.partition.roles import Offline
from logquake.seams.journal import Event, EventKind
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError
from logquake.storage.file_names import fits_a_name, future_dir, parent
from logquake.storage.log.log import Log
from logquake.storage.throttle import Throttle
from logquake.wire.errors import ErrorCode

_ANY_UNIQUE = "0" * 32


class ReplicaMoves:
    def __init__(
        self,
        hosted: HostedPartitions,
        log_dirs: LogDirs,
        hosting: Hosting,
        marks: HighWatermarks,
        cleaner: LogCleaner,
        workers: Workers,
        context: PartitionContext,
    ) -> None:
        settings = context.settings
        self._hosted = hosted
        self._log_dirs = log_dirs
        self._hosting = hosting
        self._marks = marks
        self._cleaner = cleaner
        self._context = context
        self._moves: dict[Partition, ReplicaMove] = {}
        self._at_a_time = settings.move_threads or len(log_dirs.paths)
        self._tools = MoveTools(
            context.scheduler,
            workers,
            Throttle(settings.move_max_bytes_per_second),
            settings.replica_fetch_max_bytes,
            settings.replica_fetch_backoff_ms,
            swap=self._swap,
            failed=log_dirs.report,
        )

    def throttle(self, bytes_per_second: float) -> None:
        """Another bound for all moves together, those under way too."""
        self._tools.throttle.set_rate(bytes_per_second)

    def alter(self, topic: str, index: int, path: str) -> ErrorCode:
        """Move the replica into this directory, or make it there once it is hosted."""
        if not fits_a_name(future_dir(topic, index, _ANY_UNIQUE)):
            return ErrorCode.INVALID_TOPIC_EXCEPTION
        if path not in self._log_dirs.paths:
            return ErrorCode.LOG_DIR_NOT_FOUND
        located = self._hosted.locate(topic, index)
        if path not in self._log_dirs.online or _is_offline(located):
            return ErrorCode.KAFKA_STORAGE_ERROR
        if isinstance(located, Partition):
            self._call_off_unless_to(located, path)
            self._log_dirs.prefer(topic, index, path)
            return self._begin(located, path)
        if located is ErrorCode.NOT_LEADER_OR_FOLLOWER:
            # Known, and not here yet. Of what nobody knows nothing is kept (Kafka keeps that too).
            self._log_dirs.prefer(topic, index, path)
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return located

    def resume(self, partition: Partition) -> None:
        """Go on with a move of an earlier run, or from before the partition was stopped."""
        future = self._log_dirs.future(partition.topic, partition.index)
        if future is None or partition in self._moves:
            return
        if future.topic_id not in (None, partition.replica.log.topic_id):
            self._delete_future(partition, "it copied an earlier topic of that name")
        elif parent(future.directory) != parent(partition.replica.log.directory):
            self._add(partition, future, "its copy was there already")

    def forget(self, partition: Partition) -> None:
        """Copy no more; what there is of the future stays."""
        move = self._moves.pop(partition, None)
        if move is not None:
            move.stop()
            partition.future = None
            self._cleaner.resume(partition.topic, partition.index)
            self._start_waiting()

    def on_dir_failed(self, path: str) -> None:
        """Moves into or out of a directory end with it."""
        for partition, move in list(self._moves.items()):
            if path in (parent(move.future.directory), parent(partition.replica.log.directory)):
                self._record(REPLICA_MOVE_ENDED, partition, f"log directory {path} failed")
                self.forget(partition)

    def close(self) -> None:
        """The next run goes on with what is not finished."""
        for move in self._moves.values():
            move.stop()
        self._moves.clear()

    def _call_off_unless_to(self, partition: Partition, path: str) -> None:
        future = self._log_dirs.future(partition.topic, partition.index)
        if future is not None and parent(future.directory) != path:
            self._delete_future(partition, f"it is to be in {path}")

    def _delete_future(self, partition: Partition, why: str) -> None:
        self.forget(partition)
        self._record(REPLICA_MOVE_CALLED_OFF, partition, why)
        try:
            paths = self._log_dirs.delete_future(partition.topic, partition.index)
        except StorageError as error:
            self._log_dirs.report(error)
        else:
            self._hosting.remove_later(paths)

    def _begin(self, partition: Partition, path: str) -> ErrorCode:
        log = partition.replica.log
        if partition in self._moves or parent(log.directory) == path:
            return ErrorCode.NONE
        try:
            future = self._log_dirs.create_future(partition.topic, partition.index, log)
        except StorageError as error:
            self._log_dirs.report(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        self._add(partition, future, "AlterReplicaLogDirs asked for it")
        return ErrorCode.NONE

    def _add(self, partition: Partition, future: Log, why: str) -> None:
        self._moves[partition] = ReplicaMove(partition, future, self._tools)
        partition.future = future
        self._marks.note(partition)
        self._cleaner.pause(partition.topic, partition.index)
        source, target = parent(partition.replica.log.directory), parent(future.directory)
        self._record(REPLICA_MOVE_BEGUN, partition, why, source, target)
        self._start_waiting()

    def _start_waiting(self) -> None:
        """In order of their names, as Kafka picks them."""
        free = self._at_a_time - sum(move.is_running for move in self._moves.values())
        waiting = [p for p, move in self._moves.items() if not move.is_running]
        waiting.sort(key=lambda partition: (partition.topic, partition.index))
        for partition in waiting[: max(0, free)]:
            self._moves[partition].start()

    def _swap(self, move: ReplicaMove) -> None:
        """Raises StorageError."""
        partition, future = move.partition, move.future
        source = partition.replica.log
        complete(source, future, partition.replica.high_watermark)
        self._marks.write()
        if not move.is_running:
            return  # the disk that failed was this one
        set_aside = self._log_dirs.promote_future(partition.topic, partition.index)
        self._marks.forget(partition.topic, partition.index)
        partition.replica.continue_in(future)
        self.forget(partition)
        partition.context.touched(partition)
        self._hosting.sync_rolled(partition)
        self._hosting.remove_later([set_aside])
        self._record(
            REPLICA_MOVED,
            partition,
            f"the copy has everything up to {future.written_end_offset}",
            parent(source.directory),
            parent(future.directory),
        )

    def _record(
        self,
        what: EventKind,
        partition: Partition,
        why: str,
        before: str | None = None,
        after: str | None = None,
    ) -> None:
        self._context.journal.record(Event(what, partition.name, why, before, after))


def _is_offline(located: Partition | ErrorCode) -> bool:
    if isinstance(located, Partition):
        return isinstance(located.role, Offline)
    return located is ErrorCode.KAFKA_STORAGE_ERROR
