"""What happens to replicas by the passing of time alone."""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.ports import Scheduler, Timer
from logquake.node.replication import leading
from logquake.node.replication.high_watermarks import HighWatermarks
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.settings import ReplicationSettings


class Ticks:
    def __init__(
        self,
        settings: ReplicationSettings,
        scheduler: Scheduler,
        hosted: HostedPartitions,
        marks: HighWatermarks,
    ) -> None:
        self._settings = settings
        self._scheduler = scheduler
        self._hosted = hosted
        self._marks = marks
        self._timers: dict[str, Timer] = {}

    def start(self) -> None:
        # Half of the lag time: a follower leaves the ISR after 1 to 1.5 times of it, as in Kafka.
        self._every("lag", self._settings.replica_lag_time_max_ms / 2, self.check_lag)
        interval_ms = self._settings.high_watermark_checkpoint_interval_ms
        self._every("checkpoint", interval_ms, self._marks.write)

    def stop(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def check_lag(self) -> None:
        """Shrink ISRs, and let high watermarks go on that waited for a follower now gone."""
        for partition in self._hosted:
            leader = partition.leader
            if leader is not None:
                leading.shrink_isr(partition, leader)
                leading.advance_high_watermark(partition, leader)

    def _every(self, name: str, interval_ms: float, action: Callable[[], None]) -> None:
        def run() -> None:
            self._every(name, interval_ms, action)
            action()

        self._timers[name] = self._scheduler.call_later(interval_ms, run)
