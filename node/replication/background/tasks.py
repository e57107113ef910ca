"""What happens to the replicas of one broker by the passing of time alone.

The tasks that Kafka's LogManager and ReplicaManager give to the scheduler of background.threads.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.background.checkpoints import Checkpoints
from logquake.node.replication.background.file_removal import FileRemoval
from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.node.replication.background.isr_expiration import IsrExpiration
from logquake.node.replication.background.log_flusher import LogFlusher
from logquake.node.replication.background.retention_check import RetentionCheck
from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.settings import ReplicationSettings
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler, Timer
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.log_config import NEVER

_PARTITIONS_AT_A_TIME = 500


class BackgroundTasks:
    """Some have names, for those who cannot wait for their time."""

    def __init__(
        self,
        settings: ReplicationSettings,
        hosted: HostedPartitions,
        log_dirs: LogDirs,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
    ) -> None:
        self._settings = settings
        self._hosted = hosted
        self._scheduler = scheduler
        self.high_watermarks = HighWatermarks(log_dirs, hosted)
        self.checkpoints = Checkpoints(
            log_dirs,
            self.high_watermarks,
            scheduler,
            workers,
            deletion_delay_ms=settings.deletion_checkpoint_delay_ms,
        )
        self.flusher = LogFlusher(hosted, scheduler, workers)
        self.removal = FileRemoval(scheduler, workers, journal)
        self._retention = RetentionCheck(hosted, scheduler, journal, self.removal.remove_later)
        self._isr_expiration = IsrExpiration(scheduler)
        self._producer_expiration = SlicedRound(
            scheduler, self._expire_producers_of, _PARTITIONS_AT_A_TIME
        )
        self._timers: dict[str, Timer] = {}

    def note(self, partition: Partition) -> None:
        """The partition was touched: what its log holds or who leads it may have changed."""
        self.high_watermarks.note(partition)
        self._isr_expiration.note(partition)

    def start(self) -> None:
        settings, every = self._settings, self._every
        # Half of the lag time: a follower leaves the ISR after 1 to 1.5 times of it, as in Kafka.
        every("lag", settings.replica_lag_time_max_ms / 2, self._isr_expiration.run)
        every(
            "marks",
            settings.high_watermark_checkpoint_interval_ms,
            self.checkpoints.write_high_watermarks,
        )
        every("producers", settings.producer_expiration_check_interval_ms, self._expire_producers)
        self._timers["logs"] = self._scheduler.call_later(
            settings.initial_task_delay_ms, self._start_with_logs
        )

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        self.checkpoints.stop()

    def _start_with_logs(self) -> None:
        """What LogManager does by time, first at once (log.initial.task.delay.ms)."""
        settings = self._settings
        for name, interval_ms, action in (
            ("flush", settings.log_flush_scheduler_interval_ms, self.flusher.flush_aged),
            (
                "recovery-points",
                settings.recovery_point_checkpoint_interval_ms,
                self.checkpoints.write_recovery_points,
            ),
            (
                "log-starts",
                settings.log_start_checkpoint_interval_ms,
                self.checkpoints.write_log_starts,
            ),
            ("retention", settings.retention_check_interval_ms, self._retention.run),
        ):
            self._every(name, interval_ms, action)
            if name in self._timers:
                action()

    def _expire_producers(self) -> None:
        """Leaders and followers alike, each by its own clock, as in Kafka."""
        self._producer_expiration.start(self._hosted)

    def _expire_producers_of(self, partition: Partition) -> None:
        partition.replica.log.expire_producers(self._scheduler.wall_ms())

    def _every(self, name: str, interval_ms: float, action: Callable[[], None]) -> None:
        """Nothing happens for an interval of 0 or NEVER."""
        if not 0 < interval_ms < NEVER:
            return

        def run() -> None:
            self._every(name, interval_ms, action)
            action()

        run.__qualname__ = f"BackgroundTasks ({name})"  # for whoever is told how long it took
        self._timers[name] = self._scheduler.call_later(interval_ms, run)
