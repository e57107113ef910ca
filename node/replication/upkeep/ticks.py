"""What happens to replicas by the passing of time alone."""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.settings import ReplicationSettings
from logquake.node.replication.upkeep.checkpoints import Checkpoints
from logquake.node.replication.upkeep.lag_check import LagCheck
from logquake.node.replication.upkeep.log_flushes import LogFlushes
from logquake.node.replication.upkeep.retention import Retention
from logquake.seams.scheduler import Scheduler, Timer
from logquake.storage.log_config import NEVER


class Ticks:
    def __init__(
        self,
        settings: ReplicationSettings,
        scheduler: Scheduler,
        hosted: HostedPartitions,
        lag_check: LagCheck,
        checkpoints: Checkpoints,
        flushes: LogFlushes,
        retention: Retention,
    ) -> None:
        self._settings = settings
        self._scheduler = scheduler
        self._hosted = hosted
        self._lag_check = lag_check
        self._checkpoints = checkpoints
        self._flushes = flushes
        self._retention = retention
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        settings, every = self._settings, self._every
        # Half of the lag time: a follower leaves the ISR after 1 to 1.5 times of it, as in Kafka.
        every("lag", settings.replica_lag_time_max_ms / 2, self._lag_check.run)
        every(
            "marks",
            settings.high_watermark_checkpoint_interval_ms,
            self._checkpoints.write_high_watermarks,
        )
        every("producers", settings.producer_expiration_check_interval_ms, self.expire_producers)
        self._timers["logs"] = self._scheduler.call_later(
            settings.initial_task_delay_ms, self._start_with_logs
        )

    def _start_with_logs(self) -> None:
        """What LogManager does by time, first at once (log.initial.task.delay.ms)."""
        settings = self._settings
        for name, interval_ms, action in (
            ("flush", settings.log_flush_scheduler_interval_ms, self._flushes.flush_aged),
            (
                "recovery-points",
                settings.recovery_point_checkpoint_interval_ms,
                self._checkpoints.write_recovery_points,
            ),
            (
                "log-starts",
                settings.log_start_checkpoint_interval_ms,
                self._checkpoints.write_log_starts,
            ),
            ("retention", settings.retention_check_interval_ms, self._retention.check),
        ):
            self._every(name, interval_ms, action)
            if name in self._timers:
                action()

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def expire_producers(self) -> None:
        """Leaders and followers alike, each by its own clock, as in Kafka."""
        wall_ms = self._scheduler.wall_ms()
        for partition in self._hosted:
            partition.replica.log.expire_producers(wall_ms)

    def _every(self, name: str, interval_ms: float, action: Callable[[], None]) -> None:
        """Nothing happens for an interval of 0 or NEVER."""
        if not 0 < interval_ms < NEVER:
            return

        def run() -> None:
            self._every(name, interval_ms, action)
            action()

        run.__qualname__ = f"Ticks ({name})"  # for whoever is told how long it took
        self._timers[name] = self._scheduler.call_later(interval_ms, run)
