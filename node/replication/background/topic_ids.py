"""partition.metadata of logs that were given a topic id, written in the background.

UnifiedLog's flush-metadata-file. A log that is appended to before its turn writes its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future

from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.errors import StorageError
from logquake.storage.log.log import Log


class TopicIdWrites:
    """At most one worker is at it: what is added meanwhile is its next batch.

    A directory that fails at it goes offline.
    """

    def __init__(self, log_dirs: LogDirs, workers: Workers) -> None:
        self._log_dirs = log_dirs
        self._workers = workers
        self._waiting: list[Log] = []
        self._is_writing = False

    def add(self, log: Log) -> None:
        self._waiting.append(log)
        if not self._is_writing:
            self._write()

    def _write(self) -> None:
        batch, self._waiting = self._waiting, []
        self._is_writing = bool(batch)
        if batch:
            self._workers.run_in_worker(lambda: _write_all(batch), self._on_written)

    def _on_written(self, written: Future[list[StorageError]]) -> None:
        for error in written.result():
            self._log_dirs.report(error)
        self._write()


def _write_all(logs: Sequence[Log]) -> list[StorageError]:
    """What failed: the others may lie in other directories."""
    failed = []
    for log in logs:
        try:
            log.write_topic_id()
        except StorageError as error:
            failed.append(error)
    return failed
