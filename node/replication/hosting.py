"""Partitions come to this broker and go: their logs are made, found and deleted here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

from logquake.node.journal_events import (
    REPLICA_DELETED,
    REPLICA_EMPTY,
    REPLICA_FAILED,
    REPLICA_NOT_DELETED,
    REPLICA_OF_ANOTHER_TOPIC,
    TOPIC_ID_ASSIGNED,
)
from logquake.node.replication.background.checkpoints import Checkpoints
from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.node.replication.background.log_flusher import LogFlusher
from logquake.node.replication.background.topic_ids import TopicIdWrites
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition, PartitionContext
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.node.replication.settings import TopicConfig
from logquake.seams.journal import Event, EventKind
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError
from logquake.storage.file_names import parent
from logquake.storage.log.log import Log
from logquake.wire.errors import ErrorCode
from logquake.wire.uuids import encode_uuid


class Hosting:
    def __init__(
        self,
        hosted: HostedPartitions,
        log_dirs: LogDirs,
        marks: HighWatermarks,
        checkpoints: Checkpoints,
        flusher: LogFlusher,
        workers: Workers,
        context: PartitionContext,
    ) -> None:
        self._hosted = hosted
        self._log_dirs = log_dirs
        self._marks = marks
        self._checkpoints = checkpoints
        self._flusher = flusher
        self._topic_ids = TopicIdWrites(log_dirs, workers)
        self._workers = workers
        self._context = context
        self.file_delete_delay_ms = context.settings.topic_defaults.log.file_delete_delay_ms
        """How long what was deleted stays on disk; it may change while the broker runs."""

    def remove_deleted_of_earlier_runs(self) -> None:
        self.remove_later(self._log_dirs.deleted())

    def host(
        self, topic: str, index: int, topic_id: bytes | None, config: TopicConfig, *, is_new: bool
    ) -> Partition | ErrorCode:
        """A partition not hosted so far, with the log that is there or a new one.

        INCONSISTENT_TOPIC_ID where the log belongs to an earlier topic of the same name,
        KAFKA_STORAGE_ERROR where the disk fails.
        """
        try:
            log = self._find_or_create(topic, index, topic_id, config, is_new=is_new)
        except StorageError as error:
            self._hosted.fail(topic, index)
            self._record(REPLICA_FAILED, topic, index, str(error))
            self._log_dirs.report(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        if topic_id is not None and topic_id != log.topic_id:
            self._record(REPLICA_OF_ANOTHER_TOPIC, topic, index, _strange(log, topic_id))
            return ErrorCode.INCONSISTENT_TOPIC_ID
        name = f"{topic}-{index}"
        mark = self._marks.initial(topic, index, log)
        replica = ReplicaLog(name, log, self._context.journal, mark)
        partition = Partition(topic, index, replica, config, self._context)
        self.sync_rolled(partition)
        self._hosted.add(partition)
        return partition

    def identify(self, partition: Partition, topic_id: bytes) -> None:
        """A partition that was hosted without a topic id has one now. Raises StorageError."""
        self._hosted.remove(partition)
        try:
            self._assign(partition.replica.log, topic_id)
            if partition.future is not None:
                partition.future.assign_topic_id(topic_id)
                partition.future.write_topic_id()
        finally:
            self._hosted.add(partition)
        why = f"the controller gave its topic the id {encode_uuid(topic_id)}"
        self._record(TOPIC_ID_ASSIGNED, partition.topic, partition.index, why)

    def sync_rolled(self, partition: Partition) -> None:
        """Have the segments of a partition's log synced after they rolled."""
        # By name: a log that knew its partition would not go by reference count
        # (node/process/heap.py).
        on_rolled = partial(self._flusher.on_rolled, partition.topic, partition.index)
        partition.replica.log.when_rolled(on_rolled)

    def delete(self, topic: str, index: int) -> list[str] | ErrorCode:
        """Give up a stopped partition, log and all; the paths for settle_deletions().

        Nothing happens where there is none.
        """
        partition = self._hosted.get(topic, index)
        if partition is not None:
            self._hosted.remove(partition)
        self._marks.forget(topic, index)
        try:
            paths = self._log_dirs.delete_log(topic, index)
        except StorageError as error:
            self._record(REPLICA_NOT_DELETED, topic, index, str(error))
            self._log_dirs.report(error)
            return ErrorCode.KAFKA_STORAGE_ERROR
        if paths:
            self._record(REPLICA_DELETED, topic, index, "the controller asked for it")
        return paths

    def settle_deletions(self, paths: Sequence[str], done: Callable[[], None]) -> None:
        """Make deletions last, then call done. A directory that fails at it goes offline."""
        pending = self._log_dirs.deleted_folders(paths)

        def settled() -> None:
            self._checkpoints.write_soon()
            self.remove_later(paths)
            done()

        def on_ran(directory: str, ran: Future[None]) -> None:
            del pending[directory]
            try:
                ran.result()
            except StorageError as error:
                self._log_dirs.report_failure(directory, str(error))
            if not pending:
                settled()

        if not pending:  # every directory of these has failed since
            settled()
        for directory, folders in list(pending.items()):
            self._workers.run_in_worker(folders.sync, partial(on_ran, directory))

    def are_settled(self, paths: Sequence[str]) -> bool:
        """Whether no directory of these has failed."""
        return all(parent(path) in self._log_dirs.online for path in paths)

    def remove_later(self, paths: Sequence[str]) -> None:
        """Readers of the deleted files get some time to finish."""

        def on_removed(removed: Future[None]) -> None:
            try:
                removed.result()
            except StorageError as error:
                self._log_dirs.report(error)

        def remove() -> None:
            self._workers.run_in_worker(self._log_dirs.removal_of(paths), on_removed)

        if paths:
            self._context.scheduler.call_later(self.file_delete_delay_ms, remove)

    def _find_or_create(
        self, topic: str, index: int, topic_id: bytes | None, config: TopicConfig, *, is_new: bool
    ) -> Log:
        log = self._log_dirs.log(topic, index)
        if log is None:
            log = self._log_dirs.create_log(topic, index, topic_id, config.log, is_new=is_new)
            self._topic_ids.add(log)
            if not is_new:
                # A disk was emptied, or the partition was reassigned to this broker.
                self._record(REPLICA_EMPTY, topic, index, "no log here for an existing partition")
            return log
        log.reconfigure(config.log)
        if log.topic_id is None and topic_id is not None:
            self._assign(log, topic_id)
        return log

    def _assign(self, log: Log, topic_id: bytes) -> None:
        log.assign_topic_id(topic_id)
        self._topic_ids.add(log)

    def _record(self, what: EventKind, topic: str, index: int, why: str) -> None:
        self._context.journal.record(Event(what, f"{topic}-{index}", why))


def _strange(log: Log, topic_id: bytes) -> str:
    there = "none" if log.topic_id is None else encode_uuid(log.topic_id)
    return f"{log.directory} is of topic id {there}, this topic's is {encode_uuid(topic_id)}"
