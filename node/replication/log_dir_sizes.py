"""What lies in the log directories, for DescribeLogDirs (ReplicaManager.describeLogDirs)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.roles import Offline
from logquake.storage.dirs.log_dir import LogDir
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.log.log import Log
from logquake.wire.topic_partition import TopicPartition

_UNKNOWN_LAG = -1  # DescribeLogDirsResponse.INVALID_OFFSET_LAG


@dataclass(frozen=True, slots=True)
class LogSize:
    """``lag`` in offsets: of a log behind its high watermark, of a future behind its log."""

    topic: str
    partition: int
    size: int
    lag: int
    is_future: bool


class LogDirSizes:
    def __init__(self, log_dirs: LogDirs, hosted: HostedPartitions) -> None:
        self._log_dirs = log_dirs
        self._hosted = hosted

    @property
    def paths(self) -> tuple[str, ...]:
        """log.dirs, those that failed among them."""
        return self._log_dirs.paths

    @property
    def online(self) -> list[LogDir]:
        return list(self._log_dirs.online.values())

    def logs(self, path: str, wanted: Collection[TopicPartition] | None) -> list[LogSize]:
        """Of these partitions, or of all (None), by topic and partition."""
        directory = self._log_dirs.online[path]
        return sorted(
            (
                *self._sizes(directory.logs, wanted, is_future=False),
                *self._sizes(directory.futures, wanted, is_future=True),
            ),
            key=lambda each: (each.topic, each.partition),
        )

    def _sizes(
        self,
        logs: dict[TopicPartition, Log],
        wanted: Collection[TopicPartition] | None,
        *,
        is_future: bool,
    ) -> Iterator[LogSize]:
        for key, log in logs.items():
            if wanted is None or key in wanted:
                lag = self._lag(key, log.written_end_offset, is_future=is_future)
                yield LogSize(*key, log.size, lag, is_future)

    def _lag(self, key: TopicPartition, end_offset: int, *, is_future: bool) -> int:
        partition = self._hosted.get(*key)
        if partition is None or isinstance(partition.role, Offline):
            return _UNKNOWN_LAG
        if is_future:
            return partition.replica.end - end_offset
        return max(partition.replica.high_watermark - end_offset, 0)
