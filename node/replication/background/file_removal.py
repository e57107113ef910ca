"""Removing files that left a log, once readers had time to finish (file.delete.delay.ms)."""

from __future__ import annotations

from concurrent.futures import Future

from logquake.node.journal_events import DELETED_FILES_NOT_REMOVED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.log.deleted_files import DeletedFiles


class FileRemoval:
    """What is not removed when the broker stops, the next start removes."""

    def __init__(self, scheduler: Scheduler, workers: Workers, journal: Journal) -> None:
        self._scheduler = scheduler
        self._workers = workers
        self._journal = journal

    def remove_later(self, files: DeletedFiles, delay_ms: int) -> None:
        self._scheduler.call_later(
            delay_ms, lambda: self._workers.run_in_worker(files.remove, self._on_removed)
        )

    def _on_removed(self, removed: Future[None]) -> None:
        try:
            removed.result()
        except OSError as error:
            self._journal.record(Event(DELETED_FILES_NOT_REMOVED, "log-dir", str(error)))
