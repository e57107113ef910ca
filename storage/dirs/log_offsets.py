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

    def _begin_cleaned(self) -> PendingCheckpoint | None:
        known = self._told(_cleaned_to)
        if known or self.files.has(files.CLEANER_OFFSETS):
            return self.files.begin(files.CLEANER_OFFSETS, known)
        return None

    def write_all(self) -> None:
        """Each of them, but for the high watermarks, which somebody else knows."""
        for pending in self.begin_all():
            pending.run()

    def begin_all(self) -> list[PendingCheckpoint]:
        begun = (self.begin_recovery_points(), self.begin_log_starts(), self._begin_cleaned())
        return [pending for pending in begun if pending is not None]

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
