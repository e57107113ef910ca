"""All cleaners of one broker (LogCleaner)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from logquake.node.replication.cleaner.candidates import Candidates
from logquake.node.replication.cleaner.cleaner import Cleaner, CleanerTools
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.settings import CleanerSettings
from logquake.seams.journal import Journal
from logquake.seams.scheduler import Scheduler
from logquake.seams.workers import Workers
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.log.deleted_files import DeletedFiles
from logquake.storage.throttle import Throttle
from logquake.wire.topic_partition import TopicPartition


class LogCleaner:
    def __init__(
        self,
        settings: CleanerSettings,
        hosted: HostedPartitions,
        log_dirs: LogDirs,
        scheduler: Scheduler,
        workers: Workers,
        journal: Journal,
        remove_later: Callable[[DeletedFiles, int], None],
    ) -> None:
        """remove_later is given replaced files, which readers may still use, and a delay in ms."""
        write_checkpoint = log_dirs.write_cleaner_offsets
        self._candidates = Candidates(hosted, scheduler, journal, write_checkpoint)
        self._tools = CleanerTools(
            settings,
            self._candidates,
            Throttle(settings.io_max_bytes_per_second),
            scheduler,
            workers,
            journal,
            write_checkpoint,
            remove_later,
        )
        self._cleaners = self._new_cleaners()

    @property
    def uncleanable(self) -> Mapping[TopicPartition, str]:
        """Partitions that an error took out of compaction, with the reason."""
        return self._candidates.uncleanable

    def start(self) -> None:
        for cleaner in self._cleaners:
            cleaner.start()

    def close(self) -> None:
        for cleaner in self._cleaners:
            cleaner.stop()

    def reconfigure(self, settings: CleanerSettings) -> None:
        """Other cleaners take over; what the earlier ones were at is begun anew."""
        if settings == self._tools.settings:
            return
        self._tools.throttle.set_rate(settings.io_max_bytes_per_second)
        for cleaner in self._cleaners:
            cleaner.retire()
        self._tools = replace(self._tools, settings=settings)
        self._cleaners = self._new_cleaners()
        self.start()

    def _new_cleaners(self) -> list[Cleaner]:
        settings = self._tools.settings
        return [Cleaner(self._tools) for _ in range(settings.threads if settings.enabled else 0)]

    def pause(self, topic: str, index: int) -> None:
        """Give up the partition's cleaning, and begin none before resume(). Pauses count."""
        self._candidates.states.pause(TopicPartition(topic, index))

    def resume(self, topic: str, index: int) -> None:
        self._candidates.states.resume(TopicPartition(topic, index))
