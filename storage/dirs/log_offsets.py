"""What the checkpoints of one log directory say of its logs, and when it has to be said anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from logquake.storage import checkpoint_files as files
from logquake.storage.dirs.checkpoints import DirCheckpoints, PendingCheckpoint
from logquake.storage.disk.seam import Disk
from logquake.storage.log.log import Log
from logquake.wire.topic_partition import TopicPartition

AllLogs = Callable[[], Iterator[tuple[TopicPartition, Log]]]


class LogOffsets:
    """write...() does all of it at once; begin...() answers what writes the file on any thread.

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
        self.files.write(files.RECOVERY_POINTS, self._recovery_points())

    def begin_recovery_points(self) -> PendingCheckpoint | None:
        return self.files.begin(files.RECOVERY_POINTS, self._recovery_points())

    def write_log_starts(self) -> None:
        """Record the starts that the segments' names do not tell."""
        self.files.write(files.LOG_START_OFFSETS, self._log_starts())

    def begin_log_starts(self) -> PendingCheckpoint | None:
        return self.files.begin(files.LOG_START_OFFSETS, self._log_starts())

    def write_cleaned(self) -> None:
        """Record where compaction ended, of each log that had one."""
        pending = self._begin_cleaned()
        if pending is not None:
            pending.run()

    def _begin_cleaned(self) -> PendingCheckpoint | None:
        ends = {key: log.cleaning.cleaned_to for key, log in self._all_logs()}
        known = {key: end for key, end in ends.items() if end is not None}
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

    def _recovery_points(self) -> dict[TopicPartition, int]:
        return {key: log.recovery_point for key, log in self._all_logs()}

    def _log_starts(self) -> dict[TopicPartition, int]:
        return {
            key: log.start_offset for key, log in self._all_logs() if log.start_is_within_segment
        }
