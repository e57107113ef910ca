"""Old segments leave the logs, at the checks that log.retention.check.interval.ms sets.

Kafka's LogManager.cleanupLogs: leaders and followers alike, each by its own clock and disk. Files
are removed on a worker thread file.delete.delay.ms later; those that a stop leaves go at the
next start.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.journal_events import SEGMENTS_DELETED
from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.storage.errors import StorageError
from logquake.storage.log.deleted_files import DeletedFiles
from logquake.storage.log.retiring import Retired

_PARTITIONS_AT_A_TIME = 100

RemoveFiles = Callable[[DeletedFiles, int], None]


class RetentionCheck:
    """remove_files(files, delay_ms) is called for what is to be removed later."""

    def __init__(
        self,
        hosted: HostedPartitions,
        scheduler: Scheduler,
        journal: Journal,
        remove_files: RemoveFiles,
    ) -> None:
        self._hosted = hosted
        self._scheduler = scheduler
        self._journal = journal
        self._remove_files = remove_files
        self._round = SlicedRound(scheduler, self._check, _PARTITIONS_AT_A_TIME)

    def run(self) -> None:
        """Look at every log, unless the last check is not through yet."""
        self._round.start(self._hosted)

    def _check(self, partition: Partition) -> None:
        replica = partition.replica
        if replica.log.is_closed or isinstance(partition.role, Offline):
            return
        start = replica.start
        try:
            found = replica.log.delete_old(self._scheduler.wall_ms(), replica.high_watermark)
        except StorageError as error:
            partition.go_offline(str(error))
            return
        for retired in found:
            self._tell(partition, retired)
            self._remove_files(retired.files, replica.log.config.file_delete_delay_ms)
        if replica.start != start:
            partition.context.touched(partition)

    def _tell(self, partition: Partition, retired: Retired) -> None:
        count, first = len(retired.base_offsets), retired.base_offsets[0]
        what = f"{count} segments from offset {first} on, {retired.size} bytes: {retired.why}"
        self._journal.record(
            Event(SEGMENTS_DELETED, partition.name, what, first, partition.replica.start)
        )
