"""Which partition a cleaner takes next (LogCleanerManager.grabFilthiestCompactedLog)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from logquake.node.journal_events import CLEANER_CHECKPOINT_RESET, LOG_UNCLEANABLE
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.storage.cleaner.policy import LogToClean, dirtiest
from logquake.storage.cleaner.states import CleaningStates
from logquake.storage.errors import StorageError
from logquake.storage.segments.batch_walk import DamagedBatchError
from logquake.storage.segments.index_file import DamagedIndexError
from logquake.wire.topic_partition import TopicPartition


class Grabbed(NamedTuple):
    partition: Partition
    to_clean: LogToClean


class Candidates:
    """``states`` hold partitions off; ``uncleanable`` are left alone from an error on, with why."""

    def __init__(
        self,
        hosted: HostedPartitions,
        scheduler: Scheduler,
        journal: Journal,
        write_checkpoint: Callable[[], None],
    ) -> None:
        self.states = CleaningStates()
        self.uncleanable: dict[TopicPartition, str] = {}
        self._hosted = hosted
        self._scheduler = scheduler
        self._journal = journal
        self._write_checkpoint = write_checkpoint

    def grab(self) -> Grabbed | None:
        """The dirtiest of those that are due; it is in progress from now on."""
        self._forget_deleted()
        found: dict[TopicPartition, Grabbed] = {}
        for partition in self._hosted:
            if self._may_be_cleaned(partition):
                to_clean = self._assess(partition)
                if to_clean is not None:
                    found[key_of(partition)] = Grabbed(partition, to_clean)
        key = dirtiest((key, grabbed.to_clean) for key, grabbed in found.items())
        if key is None:
            return None
        self.states.begin(key)
        return found[key]

    def mark_uncleanable(self, partition: Partition, why: str) -> None:
        """Leave it alone until the broker starts anew, or the partition is deleted."""
        self.uncleanable[key_of(partition)] = why
        self._journal.record(
            Event(LOG_UNCLEANABLE, partition.name, f"it is compacted no more: {why}")
        )

    def _may_be_cleaned(self, partition: Partition) -> bool:
        log = partition.replica.log
        if not log.config.compacted:
            return False
        key = key_of(partition)
        is_free = self.states.get(key) is None and key not in self.uncleanable
        is_usable = not log.is_closed and not isinstance(partition.role, Offline)
        return is_free and is_usable

    def _assess(self, partition: Partition) -> LogToClean | None:
        replica = partition.replica
        try:
            to_clean = replica.log.cleaning.assess(
                replica.last_stable_offset, self._scheduler.wall_ms()
            )
        except StorageError as error:
            partition.go_offline(str(error))
            return None
        except (DamagedBatchError, DamagedIndexError) as error:
            self.mark_uncleanable(partition, str(error))
            return None
        if to_clean.reset_why is not None:
            self._reset(partition, to_clean.first_dirty, to_clean.reset_why)
        return to_clean

    def _reset(self, partition: Partition, first_dirty: int, why: str) -> None:
        cleaning = partition.replica.log.cleaning
        before, cleaning.cleaned_to = cleaning.cleaned_to, first_dirty
        self._journal.record(
            Event(CLEANER_CHECKPOINT_RESET, partition.name, why, before, first_dirty)
        )
        self._write_checkpoint()

    def _forget_deleted(self) -> None:
        self.uncleanable = {
            key: why for key, why in self.uncleanable.items() if self._hosted.get(*key) is not None
        }


def key_of(partition: Partition) -> TopicPartition:
    return TopicPartition(partition.topic, partition.index)
