"""All that happens to the replicas of one broker by time, put together."""

from __future__ import annotations

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.settings import ReplicationSettings
from logquake.node.replication.upkeep.checkpoints import Checkpoints
from logquake.node.replication.upkeep.file_removal import FileRemoval
from logquake.node.replication.upkeep.high_watermarks import HighWatermarks
from logquake.node.replication.upkeep.lag_check import LagCheck
from logquake.node.replication.upkeep.log_flushes import LogFlushes
from logquake.node.replication.upkeep.retention import Retention
from logquake.node.replication.upkeep.ticks import Ticks
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs


class Upkeep:
    """Its parts have names for those who cannot wait for their time."""

    def __init__(
        self,
        settings: ReplicationSettings,
        hosted: HostedPartitions,
        log_dirs: LogDirs,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
    ) -> None:
        self.marks = HighWatermarks(log_dirs, hosted)
        self.flushes = LogFlushes(hosted, scheduler, workers)
        self.removal = FileRemoval(scheduler, workers, journal)
        self.checkpoints = Checkpoints(log_dirs, self.marks, workers)
        retention = Retention(hosted, scheduler, journal, self.removal.remove_later)
        self._lag_check = LagCheck()
        self._ticks = Ticks(
            settings,
            scheduler,
            hosted,
            self._lag_check,
            self.checkpoints,
            self.flushes,
            retention,
        )

    def note(self, partition: Partition) -> None:
        """The partition was touched: what its log holds or who leads it may have changed."""
        self.marks.note(partition)
        self._lag_check.note(partition)

    def start(self) -> None:
        self._ticks.start()

    def stop(self) -> None:
        self._ticks.stop()
