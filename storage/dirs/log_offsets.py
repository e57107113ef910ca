"""What the checkpoints of one log directory say of its logs, and when it has to be said anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from logquake.storage import checkpoint_files as files
from logquake.storage.dirs.checkpoints import DirCheckpoints, GradualCheckpoint, PendingCheckpoint
from logquake.storage.disk.seam import Disk
from logquake.storage.log.log import Log
from logquake.wire.topic_partition import TopicPartition

AllLogs = Callable[[], Iterable[tuple[TopicPartition, Log]]]
# What a checkpoint says of a log; None: nothing.
_OffsetOf = Callable[[Log], int | None]

_TOLD_BY_LOGS = (files.RECOVERY_POINTS, files.LOG_START_OFFSETS, files.CLEANER_OFFSETS)


class LogOffsets:
    """write...() does all of it at once; begin...() answers what writes the file on any thread;
    collect...() what looks at the logs bit by bit before.

    ``all_logs`` are those of the directory. Raises StorageError.
    """

    def __init__(self, disk: Disk, path: str, all_logs: AllLogs) -> None:
        self.files = DirCheckpoints(disk, path)
        self._all_logs = all_logs

    def high_watermarks(self) -> dict[TopicPartition, int]:
        """As last written; empty when the file is missing or damaged."""
        return self.files.read(files.HIGH_WATERMARKS)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.files.write(files.HIGH_WATERMARKS, offsets)

    def begin_high_watermarks(
        self, offsets: Mapping[TopicPartition, int]
    ) -> PendingCheckpoint | None:
        return self.files.begin(files.HIGH_WATERMARKS, offsets)

    def write_recovery_points(self) -> None:
        """Record what is synced: a crash makes the next start scan from there."""
        self.files.write(files.RECOVERY_POINTS, self._told(_recovery_point))

    def begin_recovery_points(self) -> PendingCheckpoint | None:
        return self.files.begin(files.RECOVERY_POINTS, self._told(_recovery_point))

    def collect_recovery_points(self) -> GradualCheckpoint:
        return self.files.collect(files.RECOVERY_POINTS, self._each(_recovery_point))

    def write_log_starts(self) -> None:
        """Record the starts that the segments' names do not tell."""
        self.files.write(files.LOG_START_OFFSETS, self._told(_start_within_segment))

    def begin_log_starts(self) -> PendingCheckpoint | None:
        return self.files.begin(files.LOG_START_OFFSETS, self._told(_start_within_segment))

    def collect_log_starts(self) -> GradualCheckpoint:
        return self.files.collect(files.LOG_START_OFFSETS, self._each(_start_within_segment))

    def write_cleaned(self) -> None:
        """Record where compaction ended, of each log that had one."""
        pending = self._begin_cleaned()
        if pending is not None:
            pending.run()

    def collect_cleaned(self) -> GradualCheckpoint:
        return self.files.collect(files.CLEANER_OFFSETS, self._each(_cleaned_to))

    def _begin_cleaned(self) -> PendingCheckpoint | None:
        known = self._told(_cleaned_to)
        if known or self.files.has(files.CLEANER_OFFSETS):
            return self.files.begin(files.CLEANER_OFFSETS, known)
        return None

    def write_all(self) -> None:
        """Each of them, but for the high watermarks, which somebody else knows."""
        begun = (self.begin_recovery_points(), self.begin_log_starts(), self._begin_cleaned())
        for pending in begun:
            if pending is not None:
                pending.run()

    def collect_all(self) -> list[GradualCheckpoint]:
        """The same bit by bit."""
        return [self.collect_recovery_points(), self.collect_log_starts(), self.collect_cleaned()]

    # A deletion leaves its entries where they are until the next time that all is written: to
    # write thousands for each log that goes would cost more than the deletion itself.

    def note_deletion(self) -> None:
        """Nothing that is under way may bring an entry back."""
        self.files.outrun(_TOLD_BY_LOGS)

    def make_way(self, key: TopicPartition) -> None:
        """Have no entry of the partition, as a log of that name is about to be made.

        Recovery would trust what was never synced, or drop what is below its predecessor's start.
        """
        if self.files.may_name(key, _TOLD_BY_LOGS):
            self.write_all()

    def _told(self, offset_of: _OffsetOf) -> dict[TopicPartition, int]:
        return {key: offset for key, offset in self._each(offset_of) if offset is not None}

    def _each(self, offset_of: _OffsetOf) -> Iterator[tuple[TopicPartition, int | None]]:
        """Of the logs that are here now; each is looked at when its turn comes."""
        logs = list(self._all_logs())
        return ((key, offset_of(log)) for key, log in logs)


def _recovery_point(log: Log) -> int:
    return log.recovery_point


def _start_within_segment(log: Log) -> int | None:
    return log.start_offset if log.start_is_within_segment else None


def _cleaned_to(log: Log) -> int | None:
    return log.cleaning.cleaned_to
