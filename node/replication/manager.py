"""The replicas of one broker: Kafka's ReplicaManager, taken apart, and put together here.

A handler is given the part that it serves: who appends, who fetches, who changes roles.
Ordering contract: end_of_pass() must follow every event that reached the broker (requests,
answers of other brokers, timers). Until then appended records are only staged, and nobody who
waits is woken. The bytes of produced records must stay untouched up to it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from logquake.node.controller_link import ControllerRequests
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.replication.appends import Appends
from logquake.node.replication.background.tasks import BackgroundTasks
from logquake.node.replication.cleaner.log_cleaner import LogCleaner
from logquake.node.replication.fetch_sessions import FetchSessions
from logquake.node.replication.fetcher.pool import FetcherPool
from logquake.node.replication.hosted import HostedPartitions, Located
from logquake.node.replication.hosting import Hosting
from logquake.node.replication.log_dir_failures import LogDirFailures
from logquake.node.replication.log_dir_sizes import LogDirSizes
from logquake.node.replication.moves.moves import ReplicaMoves
from logquake.node.replication.partition import leading, offsets
from logquake.node.replication.partition.alter_partition import AlterPartitionManager
from logquake.node.replication.partition.partition import Partition, PartitionContext
from logquake.node.replication.partition.roles import Offline
from logquake.node.replication.purgatories.delayed_delete_records import DeleteRecordsPurgatory
from logquake.node.replication.purgatories.delayed_fetch import FetchPurgatory
from logquake.node.replication.purgatories.delayed_produce import ProducePurgatory
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.replication.state_changes import StateChanges
from logquake.node.replication.throttling import Throttle
from logquake.node.replication.transactions.add_partitions_to_txn import AddPartitionsToTxnManager
from logquake.node.replication.transactions.appends import TransactionalAppends
from logquake.node.replication.transactions.verification import TransactionVerification
from logquake.node.replication.values import (
    EpochEndOffset,
    Isolation,
    ListedOffset,
)
from logquake.seams.journal import Journal
from logquake.seams.network import Network
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET


class ReplicaManager:
    """``appends`` take what is produced, ``transactional_appends`` what belongs to a transaction,
    which ``verification`` asks its coordinator about; ``fetches`` those who read, ``sessions``
    being theirs, ``deletions`` those who give up old records; ``state_changes`` what the
    controller says. ``cleaner`` compacts, ``moves`` take replicas to other log directories.

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
        transaction_log: CoordinatorTopic,
        broker_epoch: Callable[[], int],
        controller: ControllerRequests,
        on_log_dir_failed: Callable[[], None] = lambda: None,
        on_last_log_dir_failed: Callable[[str], None] = lambda _why: None,
    ) -> None:
        self._hosted = HostedPartitions(metadata)
        self._background = BackgroundTasks(
            settings, self._hosted, log_dirs, scheduler, workers, journal
        )
        self._touched: dict[Partition, None] = {}
        self._watchers: dict[str, Callable[[Partition], None]] = {}
        self._produces = ProducePurgatory(scheduler)
        self.appends = Appends(self._hosted, self._produces)
        self.verification = TransactionVerification(
            self._hosted,
            AddPartitionsToTxnManager(network, metadata, transaction_log, str(broker_id)),
            scheduler,
        )
        self.transactional_appends = TransactionalAppends(
            self.appends, self.verification, settings.verification_max_bytes
        )
        windows = settings.throttle_windows
        self._leading = Throttle(windows, scheduler.now_ms, settings.leader_max_bytes_per_second)
        self._following = Throttle(
            windows, scheduler.now_ms, settings.follower_max_bytes_per_second
        )
        self.fetches = FetchPurgatory(self._hosted, scheduler, self._leading)
        self.deletions = DeleteRecordsPurgatory(self._hosted, scheduler)
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
            touched=self._touch,
            disk_failed=log_dirs.report_failure,
        )
        self._fetchers = FetcherPool(
            broker_id,
            broker_epoch,
            settings,
            scheduler,
            network,
            log_dirs.prepare_cuts,
            self._following,
        )
        self._hosting = Hosting(
            self._hosted,
            log_dirs,
            self._marks,
            self._background.checkpoints,
            self._background.flusher,
            workers,
            context,
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
            self._hosted, log_dirs, self._hosting, self._marks, self.cleaner, workers, context
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
        self.state_changes = StateChanges(
            broker_id,
            self._hosted,
            self._hosting,
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
        self._hosting.remove_deleted_of_earlier_runs()
        self._background.start()
        self.cleaner.start()

    def close(self) -> None:
        """Stop fetching and write the high watermarks. The log directories stay the owner's."""
        self.state_changes.close()
        self._background.stop()
        self.cleaner.close()
        self.moves.close()
        self._fetchers.close()
        self.verification.close()
        self.end_of_pass()
        self._marks.write()

    def watch(self, topic: str, note: Callable[[Partition], None]) -> None:
        """Call note at the end of each pass with every partition of the topic that changed in it.

        Whoever waits on the partition has been woken by then.
        """
        self._watchers[topic] = note

    def update_topic_config(self, topic: str, config: TopicConfig) -> None:
        """Use another configuration for a topic's partitions from now on."""
        for partition in self._hosted:
            if partition.topic == topic:
                _reconfigure(partition, config)

    def reconfigure(
        self, settings: ReplicationSettings, config_of: Callable[[str], TopicConfig]
    ) -> None:
        """Obey what of these settings may change at run time, topics' configurations with it."""
        self._hosting.file_delete_delay_ms = settings.topic_defaults.log.file_delete_delay_ms
        self.cleaner.reconfigure(settings.cleaner)
        self.moves.throttle(settings.move_max_bytes_per_second)
        self._leading.limit = settings.leader_max_bytes_per_second
        self._following.limit = settings.follower_max_bytes_per_second
        for partition in self._hosted:
            _reconfigure(partition, config_of(partition.topic))

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

    def locate(self, topic: str, index: int) -> Located:
        """The partition, or the error for a request that names it."""
        return self._hosted.locate(topic, index)

    def is_online(self, topic: str, index: int) -> bool:
        """Whether there is a log here that can be used, whoever leads the partition."""
        partition = self._hosted.get(topic, index)
        return partition is not None and not isinstance(partition.role, Offline)

    def partitions(self) -> list[Partition]:
        """Every partition that this broker has a replica of, by topic and index."""
        return list(self._hosted)

    # The end of a pass

    def end_of_pass(self) -> None:
        """Write what is staged, then wake who waits on partitions that changed.

        An answer may bring new appends (a coordinator's): they belong to this pass too.
        """
        while self.appends.pending or self._touched:
            self.appends.complete()
            touched, self._touched = self._touched, {}
            for partition in touched:
                self._background.note(partition)
                self._produces.wake(partition)
                self.fetches.wake(partition)
                self.deletions.wake(partition)
                note = self._watchers.get(partition.topic)
                if note is not None:
                    note(partition)
            self.fetches.answer_woken()

    def _touch(self, partition: Partition) -> None:
        """Something of the partition has changed: who waits for it is woken at the pass's end."""
        partition.wake_resting()
        self._touched[partition] = None


def _reconfigure(partition: Partition, config: TopicConfig) -> None:
    if config == partition.config:
        return
    partition.reconfigure(config)
    leader = partition.leader
    if leader is not None:
        leading.advance_high_watermark(partition, leader)
