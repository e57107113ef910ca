"""The checkpoints of high watermarks, so that a restarted broker knows what was committed.

One a directory, written every replica.high.watermark.checkpoint.interval.ms if a mark moved, and at
the end. Entries of logs that no LeaderAndIsr has named since the start are kept as they were read:
dropping them would let a restart in between begin at 0 (KAFKA-1647).
"""

from __future__ import annotations

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.storage.dirs.checkpoints import PendingCheckpoint
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.file_names import parent
from logquake.storage.log.log import Log
from logquake.wire.topic_partition import TopicPartition


class HighWatermarks:
    def __init__(self, log_dirs: LogDirs, hosted: HostedPartitions) -> None:
        self._log_dirs = log_dirs
        self._hosted = hosted
        self._marks: dict[str, dict[TopicPartition, int]] = {}
        self._noted: dict[Partition, None] = {}

    def note(self, partition: Partition) -> None:
        """Its high watermark may have moved: the next checkpoint looks."""
        self._noted[partition] = None

    def load(self) -> None:
        """Read what the last run wrote."""
        self._marks = self._log_dirs.high_watermarks()

    def initial(self, topic: str, index: int, log: Log) -> int:
        """The mark that a partition's log starts from."""
        return self._marks.get(parent(log.directory), {}).get(TopicPartition(topic, index), 0)

    def forget(self, topic: str, index: int) -> None:
        for marks in self._marks.values():
            marks.pop(TopicPartition(topic, index), None)

    def begin(self) -> list[PendingCheckpoint]:
        """What changed since the last time, to be written on any thread."""
        self._collect()
        return self._log_dirs.begin_high_watermarks(self._marks)

    def write(self) -> None:
        """Write what changed since the last time, here and now."""
        self._collect()
        self._log_dirs.write_high_watermarks(self._marks)

    def _collect(self) -> None:
        noted, self._noted = self._noted, {}
        for partition in noted:
            if self._hosted.has(partition) and not isinstance(partition.role, Offline):
                self._collect_one(partition)

    def _collect_one(self, partition: Partition) -> None:
        key = TopicPartition(partition.topic, partition.index)
        mark = partition.replica.high_watermark
        self._keep(key, partition.replica.log, mark)
        if partition.future is not None:
            self._keep(key, partition.future, min(mark, partition.future.written_end_offset))
            self.note(partition)  # its copy goes on by itself

    def _keep(self, key: TopicPartition, log: Log, mark: int) -> None:
        self._marks.setdefault(parent(log.directory), {})[key] = mark
