"""Opening the log directory on a worker thread, and telling meanwhile how far it is.

After an unclean stop logs are scanned, which can take minutes: until then the loop still answers
signals, keeps the ZooKeeper session and writes the journal.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress

from logquake.controller.journal import Event, Journal
from logquake.controller.ports import Scheduler, Timer
from logquake.node.workers import Workers
from logquake.storage.disk import Disk
from logquake.storage.errors import LoadCancelledError
from logquake.storage.load_progress import LoadProgress
from logquake.storage.log_dir import LogDir, LogDirOptions

_REPORT_INTERVAL_MS = 2_000


class LogDirLoading:
    """One opening of one directory; done is called with it, unless it is cancelled."""

    def __init__(
        self,
        path: str,
        options: LogDirOptions,
        *,
        disk: Disk,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
        done: Callable[[LogDir], None],
    ) -> None:
        self._path = path
        self._options = options
        self._disk = disk
        self._scheduler = scheduler
        self._workers = workers
        self._journal = journal
        self._done = done
        self._progress = LoadProgress()
        self._report_timer: Timer | None = None

    def start(self) -> None:
        """LogDirError and StorageError are raised on the loop, when the opening has failed."""
        self._report_later()
        self._workers.run_in_worker(self._open, self._on_opened)

    def cancel(self) -> None:
        """Give up before the next log. The next start scans again what this one did."""
        self._progress.cancel()
        self._stop_reporting()

    def _open(self) -> LogDir:
        return LogDir.open(self._disk, self._path, self._options, self._progress)

    def _on_opened(self, opened: Future[LogDir]) -> None:
        self._stop_reporting()
        with suppress(LoadCancelledError):
            log_dir = opened.result()
            self._progress.check()
            self._report_repairs(log_dir)
            self._done(log_dir)

    def _report_later(self) -> None:
        self._report_timer = self._scheduler.call_later(_REPORT_INTERVAL_MS, self._report)

    def _report(self) -> None:
        self._report_later()
        self._record("logs-loading", self._summary())

    def _stop_reporting(self) -> None:
        if self._report_timer is not None:
            self._report_timer.cancel()

    def _report_repairs(self, log_dir: LogDir) -> None:
        for _, log in sorted(log_dir.logs.items()):
            if log.recovery.truncated_bytes:
                why = f"{log.recovery.truncated_bytes} bytes were cut off: {log.recovery.why}"
                self._journal.record(Event("log-repaired", log.directory, why))
        if log_dir.logs:
            stop = "a clean stop" if log_dir.was_clean else "an unclean stop"
            self._record("logs-loaded", f"{self._summary()} after {stop}")

    def _summary(self) -> str:
        progress = self._progress
        scanned = f"{progress.scanned_bytes} bytes scanned"
        return f"{progress.opened} of {progress.total} logs open, {scanned}"

    def _record(self, what: str, why: str) -> None:
        self._journal.record(Event(what, "log-dir", why))
