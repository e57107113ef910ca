"""Checkpoints by time: collected on the loop, written on worker threads, as they end in an fsync.

LogManager.checkpointLogRecoveryOffsets, checkpointLogStartOffsets and
ReplicaManager.checkpointHighWatermarks. Where a stale checkpoint would do harm (truncations, a new
log with the name of one that was deleted, the end) it is written at once instead; here it costs a
longer scan after a crash. Deletions bring the next one forward, which Kafka writes for each.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future

from logquake.node.replication.background.high_watermarks import HighWatermarks
from logquake.seams.scheduler import Scheduler, Timer
from logquake.seams.workers import Workers
from logquake.storage.dirs.checkpoints import GradualCheckpoint, PendingCheckpoint
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError

_MARKS = "high watermarks"
_LOGS_AT_A_TIME = 1_000  # in a pass of the loop
_RECOVERY_POINTS = "recovery points"
_LOG_STARTS = "log starts"
_ALL_OF_LOGS = "all that logs tell"


class Checkpoints:
    """At most one write of a file is under way: a round that finds one leaves it to the next."""

    def __init__(
        self,
        log_dirs: LogDirs,
        marks: HighWatermarks,
        scheduler: Scheduler,
        workers: Workers,
        *,
        deletion_delay_ms: int,
    ) -> None:
        self._log_dirs = log_dirs
        self._marks = marks
        self._scheduler = scheduler
        self._workers = workers
        self._deletion_delay_ms = deletion_delay_ms
        self._under_way: Counter[str] = Counter()
        self._soon: Timer | None = None
        self._is_owed = False  # a deletion's checkpoint found others under way

    def stop(self) -> None:
        self._is_owed = False
        if self._soon is not None:
            self._soon.cancel()

    def write_high_watermarks(self) -> None:
        if not self._under_way[_MARKS]:
            for pending in self._marks.begin():
                self._under_way[_MARKS] += 1
                self._write(_MARKS, pending)

    def write_recovery_points(self) -> None:
        self._collect(_RECOVERY_POINTS, self._log_dirs.collect_recovery_points, _ALL_OF_LOGS)

    def write_log_starts(self) -> None:
        self._collect(_LOG_STARTS, self._log_dirs.collect_log_starts, _ALL_OF_LOGS)

    def write_soon(self) -> None:
        """Logs were deleted: take them out of the files, and what follows them meanwhile too."""
        if self._soon is None:
            self._soon = self._scheduler.call_later(self._deletion_delay_ms, self._write_now)

    def _write_now(self) -> None:
        self._soon = None
        others = (_RECOVERY_POINTS, _LOG_STARTS)
        self._is_owed = not self._collect(_ALL_OF_LOGS, self._log_dirs.collect_all, *others)

    def _collect(
        self, what: str, begin: Callable[[], list[GradualCheckpoint]], *not_beside: str
    ) -> bool:
        is_free = not any(self._under_way[each] for each in (what, *not_beside))
        if is_free:
            begun = deque(begin())
            self._under_way[what] = len(begun)
            self._collect_some(what, begun)
        return is_free

    def _collect_some(self, what: str, begun: deque[GradualCheckpoint]) -> None:
        """For the first of them; the next ones follow in later passes of the loop."""
        if begun and not self._may_go_on(what, begun[0]):
            begun.popleft()
        if begun:
            self._scheduler.call_later(0, lambda: self._collect_some(what, begun))

    def _may_go_on(self, what: str, collected: GradualCheckpoint) -> bool:
        """Collect some more; whether there may be more."""
        if collected.directory not in self._log_dirs.online:
            self._end(what)  # it failed since: nothing is written there any more
            return False
        if collected.collect(_LOGS_AT_A_TIME):
            return True
        pending = collected.finish()
        if pending is None:
            self._end(what)
        else:
            self._write(what, pending)
        return False

    def _write(self, what: str, pending: PendingCheckpoint) -> None:
        def done(ran: Future[None]) -> None:
            try:
                ran.result()
            except StorageError as error:
                self._log_dirs.report_failure(pending.directory, str(error))
            self._end(what)

        self._workers.run_in_worker(pending.run, done)

    def _end(self, what: str) -> None:
        self._under_way[what] -= 1
        if self._is_owed:
            self._write_now()
