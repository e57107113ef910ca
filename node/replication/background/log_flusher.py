"""fsync in the background: of segments after a roll, of whole logs by age (flush.ms).

UnifiedLog.roll and LogManager.flushDirtyLogs. The loop collects the files, a worker thread syncs
them, the loop moves the recovery point. What was truncated meanwhile does not count as synced,
what was deleted is of no interest, and a disk that fails takes the partition offline.
"""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from weakref import WeakKeyDictionary

from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log
from logquake.storage.log.sync import PendingSync

_PARTITIONS_AT_A_TIME = 500


class LogFlusher:
    """At most one sync of a partition is under way."""

    def __init__(self, hosted: HostedPartitions, scheduler: Scheduler, workers: Workers) -> None:
        self._hosted = hosted
        self._scheduler = scheduler
        self._workers = workers
        self._under_way: set[Partition] = set()
        # Or when flush_aged() first saw it; of partitions that are still there.
        self._flushed_ms: WeakKeyDictionary[Partition, int] = WeakKeyDictionary()
        self._round = SlicedRound(scheduler, self._flush_aged, _PARTITIONS_AT_A_TIME)

    def on_rolled(self, topic: str, index: int) -> None:
        """Sync the segments before the active one, not in the midst of the append that rolled."""
        self._scheduler.call_later(0, lambda: self._after_roll(topic, index))

    def flush_aged(self) -> None:
        """Sync every log whose last sync by age is flush.ms ago."""
        self._round.start(self._hosted)

    def _flush_aged(self, partition: Partition) -> None:
        now_ms = self._scheduler.now_ms()
        flushed_ms = self._flushed_ms.setdefault(partition, now_ms)
        log = partition.replica.log
        is_dirty = log.written_end_offset > log.recovery_point
        if is_dirty and now_ms - flushed_ms >= log.config.flush_ms:
            self._flush(partition, rolled_only=False)

    def _after_roll(self, topic: str, index: int) -> None:
        partition = self._hosted.get(topic, index)
        if partition is not None:  # else it was deleted since
            self._flush_rolled(partition)

    def _flush_rolled(self, partition: Partition) -> None:
        if partition.replica.log.unsynced_roll:
            self._flush(partition, rolled_only=True)

    def _flush(self, partition: Partition, *, rolled_only: bool) -> None:
        log = partition.replica.log
        if partition in self._under_way or log.is_closed or isinstance(partition.role, Offline):
            return
        try:
            pending = log.begin_sync(rolled_only=rolled_only)
        except StorageError as error:
            partition.go_offline(str(error))
            return
        self._under_way.add(partition)
        self._workers.run_in_worker(pending.run, partial(self._on_ran, partition, log, pending))

    def _on_ran(
        self, partition: Partition, log: Log, pending: PendingSync, ran: Future[None]
    ) -> None:
        self._under_way.discard(partition)
        if log.is_closed:
            return  # deleted, or moved to another directory: whatever became of its files
        try:
            ran.result()
        except OSError as error:
            log.fail_sync(pending)
            partition.go_offline(f"{log.directory}: syncing: {error}")
            return
        log.finish_sync(pending)
        self._flushed_ms[partition] = self._scheduler.now_ms()
        self._flush_rolled(partition)  # it may have rolled again, or been truncated
