"""Checkpoints by time: collected on the loop, written on worker threads, as they end in an fsync.

LogManager.checkpointLogRecoveryOffsets, checkpointLogStartOffsets and
ReplicaManager.checkpointHighWatermarks. Where a stale checkpoint would do harm (truncations,
deletions, the end) it is written at once instead; here it costs a longer scan after a crash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future

from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.seams.workers import Workers
from logquake.storage.dirs.checkpoints import PendingCheckpoint
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError


class Checkpoints:
    """At most one write of a file is under way: a round that finds one leaves it to the next."""

    def __init__(self, log_dirs: LogDirs, marks: HighWatermarks, workers: Workers) -> None:
        self._log_dirs = log_dirs
        self._marks = marks
        self._workers = workers
        self._under_way: Counter[str] = Counter()

    def write_high_watermarks(self) -> None:
        self._write("high watermarks", self._marks.begin)

    def write_recovery_points(self) -> None:
        self._write("recovery points", self._log_dirs.begin_recovery_points)

    def write_log_starts(self) -> None:
        self._write("log starts", self._log_dirs.begin_log_start_offsets)

    def _write(self, what: str, begin: Callable[[], list[PendingCheckpoint]]) -> None:
        if self._under_way[what]:
            return

        def start(pending: PendingCheckpoint) -> None:
            self._under_way[what] += 1
            self._workers.run_in_worker(pending.run, lambda ran: done(pending, ran))

        def done(pending: PendingCheckpoint, ran: Future[None]) -> None:
            self._under_way[what] -= 1
            try:
                ran.result()
            except StorageError as error:
                self._log_dirs.report_failure(pending.directory, str(error))

        for pending in begin():
            start(pending)
