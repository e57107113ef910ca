"""Opening the log directories on worker threads, and telling meanwhile how far they are.

After an unclean stop logs are scanned, which can take minutes: until then the loop still answers
signals, keeps the ZooKeeper session and writes the journal. A directory whose disk fails is
offline from the start; the others are opened all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

from logquake.node.journal_events import LOG_DIR_FAILED, LOG_REPAIRED, LOGS_LOADED, LOGS_LOADING
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler, Timer
from logquake.seams.workers import Workers
from logquake.storage.dirs.load_progress import LoadProgress
from logquake.storage.dirs.log_dir import LogDir, LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs, OfflineDir
from logquake.storage.dirs.opening import open_log_dir
from logquake.storage.disk.seam import Disk
from logquake.storage.errors import LoadCancelledError, LogDirError, StorageError

_REPORT_INTERVAL_MS = 2_000


class LogDirLoading:
    """One opening of all directories; done is called with them, unless it is cancelled."""

    def __init__(
        self,
        paths: Sequence[str],
        options: LogDirOptions,
        *,
        disk: Disk,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
        done: Callable[[LogDirs], None],
    ) -> None:
        self._options = options
        self._disk = disk
        self._scheduler = scheduler
        self._workers = workers
        self._journal = journal
        self._done = done
        self._progress = {path: LoadProgress() for path in paths}
        self._opened: dict[str, LogDir | OfflineDir] = {}
        self._is_cancelled = False
        self._report_timer: Timer | None = None

    def start(self) -> None:
        """LogDirError is raised on the loop, when a directory may not be used, or none can be."""
        self._report_later()
        for path in self._progress:
            self._workers.run_in_worker(partial(self._open, path), partial(self._on_opened, path))

    def cancel(self) -> None:
        """Give up before the next log. The next start scans again what this one did."""
        self._is_cancelled = True
        for progress in self._progress.values():
            progress.cancel()
        self._stop_reporting()

    def _open(self, path: str) -> LogDir:
        return open_log_dir(self._disk, path, self._options, self._progress[path])

    def _on_opened(self, path: str, opened: Future[LogDir]) -> None:
        self._report_repairs(path)
        try:
            self._opened[path] = opened.result()
        except StorageError as error:
            self._opened[path] = OfflineDir(path, str(error))
            self._journal.record(Event(LOG_DIR_FAILED, path, str(error)))
        except LoadCancelledError:
            return
        except LogDirError:
            self.cancel()
            raise
        if len(self._opened) == len(self._progress) and not self._is_cancelled:
            self._finish()

    def _finish(self) -> None:
        self._stop_reporting()
        log_dirs = LogDirs([self._opened[path] for path in self._progress])
        for directory in log_dirs.online.values():
            if directory.log_count:
                stop = "a clean stop" if directory.was_clean else "an unclean stop"
                summary = _summary([self._progress[directory.path]])
                self._journal.record(Event(LOGS_LOADED, directory.path, f"{summary} after {stop}"))
        self._done(log_dirs)

    def _report_later(self) -> None:
        self._report_timer = self._scheduler.call_later(_REPORT_INTERVAL_MS, self._report)

    def _report(self) -> None:
        self._report_later()
        self._journal.record(
            Event(LOGS_LOADING, "log-dirs", _summary(list(self._progress.values())))
        )

    def _stop_reporting(self) -> None:
        if self._report_timer is not None:
            self._report_timer.cancel()

    def _report_repairs(self, path: str) -> None:
        """Whether or not all went well after them: what they cut off is gone."""
        for directory, recovery in self._progress[path].repairs:
            why = f"{recovery.truncated_bytes} bytes were cut off: {recovery.why}"
            self._journal.record(Event(LOG_REPAIRED, directory, why))


def _summary(progress: Sequence[LoadProgress]) -> str:
    opened = sum(each.opened for each in progress)
    total = sum(each.total for each in progress)
    scanned_bytes = sum(each.scanned_bytes for each in progress)
    return f"{opened} of {total} logs open, {scanned_bytes} bytes scanned"
