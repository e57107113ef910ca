"""A log directory whose disk fails is given up as a whole (ReplicaManager.handleLogDirFailure).

Whoever meets the fault takes its partition offline; the directory's other partitions follow, what
would copy into or out of it stops, and the controller is told, which then finds out by LeaderAndIsr
what is lost here. The broker lives on until its last directory fails.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.journal_events import LOG_DIR_FAILED
from logquake.node.replication.fetcher.pool import FetcherPool
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.moves.moves import ReplicaMoves
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.file_names import parent


class LogDirFailures:
    """``on_failed`` is called after each failure, ``on_last_failed`` with why none is left."""

    def __init__(
        self,
        log_dirs: LogDirs,
        hosted: HostedPartitions,
        fetchers: FetcherPool,
        moves: ReplicaMoves,
        scheduler: Scheduler,
        journal: Journal,
        *,
        on_failed: Callable[[], None],
        on_last_failed: Callable[[str], None],
    ) -> None:
        self._log_dirs = log_dirs
        self._hosted = hosted
        self._fetchers = fetchers
        self._moves = moves
        self._scheduler = scheduler
        self._journal = journal
        self._on_failed = on_failed
        self._on_last_failed = on_last_failed
        self._failing: set[str] = set()

    def fail(self, path: str, why: str) -> None:
        """Take the directory offline. Nothing happens when it is, or is about to be."""
        if path in self._failing or path not in self._log_dirs.online:
            return
        self._failing.add(path)
        self._journal.record(Event(LOG_DIR_FAILED, path, why))
        self._moves.on_dir_failed(path)
        self._take_partitions_offline(path, why)
        self._log_dirs.fail(path, why)
        self._scheduler.call_later(0, self._fetchers.close_idle)
        if self._log_dirs.online:
            self._on_failed()
        else:
            described = self._log_dirs.describe_offline()
            self._on_last_failed(f"every log directory has failed: {described}")

    def _take_partitions_offline(self, path: str, why: str) -> None:
        for partition in self._hosted:
            if parent(partition.replica.log.directory) == path:
                self._fetchers.forget(partition)
                partition.go_offline(why)
