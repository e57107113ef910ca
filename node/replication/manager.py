"""The replicas of one broker, behind one door: Kafka's ReplicaManager, taken apart.

Handlers append and fetch through it, the controller's commands change roles through it.
Ordering contract: end_of_pass() must follow every event that reached the broker (requests,
answers of other brokers, timers). Until then appended records are only staged, and nobody who
waits is woken. The bytes of produced records must stay untouched up to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.background.tasks import BackgroundTasks
from logquake.node.replication.cleaner.log_cleaner import LogCleaner
from logquake.node.replication.fetch_sessions import FetchContext, FetchSessions
from logquake.node.replication.fetcher.pool import FetcherPool
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.log_dir_failures import LogDirFailures
from logquake.node.replication.log_dir_sizes import LogDirSizes
from logquake.node.replication.moves.moves import ReplicaMoves
from logquake.node.replication.partition import leading, offsets
from logquake.node.replication.partition.alter_partition import AlterPartitionManager
from logquake.node.replication.partition.partition import Partition, PartitionContext
from logquake.node.replication.passes import Passes
from logquake.node.replication.replicas import Replicas
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.state_changes import StateChanges
from logquake.node.replication.values import (
    DeletedRecords,
    EpochEndOffset,
    FetchParams,
    Isolation,
    ListedOffset,
    PartitionRead,
    ProduceEntry,
    ProduceResult,
)
from logquake.seams.journal import Journal
from logquake.seams.network import Channel, Network
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from logquake.wire.messages.stop_replica import StopReplicaRequest, StopReplicaResponse
from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET


class ReplicaManager:
    """``sessions`` are the fetch sessions of those who fetch here; ``cleaner`` compacts; ``moves``
    take replicas to other log directories.

    ``broker_epoch`` and ``controller`` are asked at every request that needs them: both change
    when the ZooKeeper session or the controller does. ``on_log_dir_failed`` is called when a log
    directory went offline, ``on_last_log_dir_failed``, with one line, when none is left.
    """

    def __init__(
        self,
        broker_id: int,
        settings: ReplicationSettings,
        *,
        log_dirs: LogDirs,
        scheduler: Scheduler,
        workers: Workers,
        network: Network,
        journal: Journal,
        random: Random,
        metadata: MetadataCache,
        broker_epoch: Callable[[], int],
        controller: Callable[[], Channel | None],
        on_log_dir_failed: Callable[[], None] = lambda: None,
        on_last_log_dir_failed: Callable[[str], None] = lambda _why: None,
    ) -> None:
        self._hosted = HostedPartitions(metadata)
        self._background = BackgroundTasks(
            settings, self._hosted, log_dirs, scheduler, workers, journal
        )
        self._passes = Passes(self._hosted, scheduler, self._background.note)
        self._marks = self._background.high_watermarks
        alter_partition = AlterPartitionManager(
            broker_id,
            broker_epoch,
            controller,
            scheduler,
            retry_ms=settings.alter_partition_retry_ms,
        )
        context = PartitionContext(
            broker_id=broker_id,
            settings=settings,
            scheduler=scheduler,
            journal=journal,
            is_alive=metadata.is_alive,
            propose=alter_partition.submit,
            touched=self._passes.touch,
            disk_failed=log_dirs.report_failure,
        )
        self._fetchers = FetcherPool(
            broker_id, broker_epoch, settings, scheduler, network, log_dirs.prepare_cuts
        )
        self._replicas = Replicas(
            self._hosted, log_dirs, self._marks, self._background.flusher, workers, context
        )
        self.cleaner = LogCleaner(
            settings.cleaner,
            self._hosted,
            log_dirs,
            scheduler,
            workers,
            journal,
            self._background.removal.remove_later,
        )
        self.moves = ReplicaMoves(
            self._hosted, log_dirs, self._replicas, self._marks, self.cleaner, workers, context
        )
        failures = LogDirFailures(
            log_dirs,
            self._hosted,
            self._fetchers,
            self.moves,
            scheduler,
            journal,
            on_failed=on_log_dir_failed,
            on_last_failed=on_last_log_dir_failed,
        )
        log_dirs.on_failure = failures.fail
        self.log_dir_sizes = LogDirSizes(log_dirs, self._hosted)
        self._marks.load()
        self._changes = StateChanges(
            broker_id,
            self._hosted,
            self._replicas,
            self._fetchers,
            self.moves,
            metadata,
            scheduler,
        )
        self.sessions = FetchSessions(
            settings.fetch_session_slots, scheduler, random, metadata.topic_name
        )

    def start(self) -> None:
        """Begin what happens by time: lag checks, checkpoints, removal of deleted files."""
        self._replicas.remove_deleted_of_earlier_runs()
        self._background.start()
        self.cleaner.start()

    def close(self) -> None:
        """Stop fetching and write the high watermarks. The log directories stay the owner's."""
        self._changes.close()
        self._background.stop()
        self.cleaner.close()
        self.moves.close()
        self._fetchers.close()
        self.end_of_pass()
        self._marks.write()

    # What the controller says

    @property
    def has_orders(self) -> bool:
        """Whether a LeaderAndIsr has told the replicas here what to do."""
        return self._changes.has_orders

    def accept_controller_epoch(self, epoch: int) -> bool:
        """Take note of a controller's epoch; False where a later one is known."""
        return self._changes.accept_controller_epoch(epoch)

    def apply_leader_and_isr(
        self,
        request: LeaderAndIsrRequest,
        config_of: Callable[[str], TopicConfig],
        done: Callable[[LeaderAndIsrResponse], None],
        *,
        by_topic_id: bool = True,
    ) -> None:
        """Take on roles, at once or, if there are many, bit by bit; done is called at the end.

        The answer names partitions by topic id, or by name before version 5.
        """
        self._changes.apply_leader_and_isr(request, config_of, done, by_topic_id=by_topic_id)

    def on_metadata_update(self) -> None:
        """The metadata cache has changed: brokers may be back that replicas here wait for."""
        self._changes.find_leaders()

    def stop_replicas(
        self, request: StopReplicaRequest, done: Callable[[StopReplicaResponse], None]
    ) -> None:
        """Give up replicas; done is called at once, or when what was deleted will not come back."""
        self._changes.stop_replicas(request, done)

    def update_topic_config(self, topic: str, config: TopicConfig) -> None:
        """Use another configuration for a topic's partitions from now on."""
        for partition in self._hosted:
            if partition.topic == topic:
                partition.reconfigure(config)
                leader = partition.leader
                if leader is not None:
                    leading.advance_high_watermark(partition, leader)

    # What clients and followers ask

    def append(
        self,
        entries: Sequence[ProduceEntry],
        acks: int,
        timeout_ms: int,
        done: Callable[[list[ProduceResult]], None],
        *,
        internal: bool = False,
    ) -> bool:
        """Append each entry's batch to the partition that this broker leads.

        done is called with the results in order: at the end of the pass for acks 0 and 1, for
        acks -1 when the in-sync replicas have the records or timeout_ms is over. ``internal``
        writes are the broker's own: to Kafka's internal topics, and of any producer. Whether the
        results wait for followers.
        """
        return self._passes.appends.append(entries, acks, timeout_ms, done, internal=internal)

    def fetch(
        self,
        params: FetchParams,
        context: FetchContext,
        done: Callable[[Sequence[PartitionRead]], None],
    ) -> None:
        """Read what the context has to look at; done is called with it for context.answer().

        At once when there are min_bytes, an error, a diverging epoch or no patience, else at the
        end of a later pass, or when max_wait_ms is over.
        """
        self._passes.fetches.fetch(params, context, done)

    def delete_records(
        self,
        asked: Sequence[tuple[str, int, int]],
        timeout_ms: int,
        done: Callable[[list[DeletedRecords]], None],
    ) -> None:
        """Let the log of each (topic, partition, offset) start at the offset, or at HIGH_WATERMARK.

        done is called with the results in order when every live replica did so, or when
        timeout_ms is over.
        """
        located = [(self._hosted.locate(topic, index), offset) for topic, index, offset in asked]
        self._passes.deletions.delete(located, timeout_ms, done)

    def list_offset(
        self,
        topic: str,
        partition: int,
        timestamp: int,
        *,
        isolation: Isolation,
        current_leader_epoch: int = NO_LEADER_EPOCH,
        only_leader: bool = True,
    ) -> ListedOffset:
        """The offset for a timestamp, or for LATEST_TIMESTAMP and its like."""
        found = self._hosted.locate(topic, partition)
        if isinstance(found, ErrorCode):
            return ListedOffset(found)
        try:
            return offsets.list_offset(
                found,
                timestamp,
                isolation=isolation,
                current_leader_epoch=current_leader_epoch,
                only_leader=only_leader,
            )
        except StorageError as error:
            found.go_offline(str(error))
            return ListedOffset(ErrorCode.KAFKA_STORAGE_ERROR)
        except RecordError as error:
            found.note_damage(error.detail)
            return ListedOffset(error.code)

    def offsets_before(
        self,
        topic: str,
        partition: int,
        timestamp: int,
        max_count: int,
        *,
        isolation: Isolation,
        only_leader: bool = True,
    ) -> list[int] | ErrorCode:
        """Where segments begin, newest first, by the time of their last write: ListOffsets 0."""
        found = self._hosted.locate(topic, partition)
        if isinstance(found, ErrorCode):
            return found
        try:
            return offsets.offsets_before(
                found, timestamp, max_count, isolation=isolation, only_leader=only_leader
            )
        except StorageError as error:
            found.go_offline(str(error))
            return ErrorCode.KAFKA_STORAGE_ERROR

    def end_offset_for_epoch(
        self, topic: str, partition: int, current_leader_epoch: int, leader_epoch: int
    ) -> EpochEndOffset:
        found = self._hosted.locate(topic, partition)
        if isinstance(found, ErrorCode):
            return EpochEndOffset(found, NO_LEADER_EPOCH, UNKNOWN_OFFSET)
        return offsets.end_offset_for_epoch(found, current_leader_epoch, leader_epoch)

    def partition(self, topic: str, index: int) -> Partition | None:
        return self._hosted.get(topic, index)

    def partitions(self) -> list[Partition]:
        """Every partition that this broker has a replica of, by topic and index."""
        return list(self._hosted)

    # The end of a pass

    def end_of_pass(self) -> None:
        """Write what is staged, and wake who waits for what has changed."""
        self._passes.end()
