"""The checkpoints of recovery points and log starts (LogManager.checkpointLogRecoveryOffsets).

Truncations and deletions write them too: there a stale one would do harm, here it costs a longer
scan after a crash.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.journal import Event, Journal
from logquake.storage.errors import StorageError
from logquake.storage.log_dir import LogDir


class LogCheckpoints:
    def __init__(self, log_dir: LogDir, journal: Journal) -> None:
        self._log_dir = log_dir
        self._journal = journal

    def write_recovery_points(self) -> None:
        self._attempt("recovery-points-not-written", self._log_dir.write_recovery_points)

    def write_log_starts(self) -> None:
        self._attempt("log-starts-not-written", self._log_dir.write_log_start_offsets)

    def write_cleaner_offsets(self) -> None:
        self._attempt("cleaner-offsets-not-written", self._log_dir.write_cleaner_offsets)

    def _attempt(self, what: str, write: Callable[[], None]) -> None:
        try:
            write()
        except StorageError as error:
            self._journal.record(Event(what, "log-dir", f"the disk failed: {error}"))
