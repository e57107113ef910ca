"""The checkpoint of high watermarks, so that a restarted broker knows what was committed.

Written every replica.high.watermark.checkpoint.interval.ms and at the end. Entries of logs that
no LeaderAndIsr has named since the start are kept as they were read: dropping them would let a
restart in between begin at 0 (KAFKA-1647).
"""

from __future__ import annotations

from logquake.controller.journal import Event, Journal
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.roles import Offline
from logquake.storage.errors import StorageError
from logquake.storage.log_dir import LogDir


class HighWatermarks:
    def __init__(self, log_dir: LogDir, hosted: HostedPartitions, journal: Journal) -> None:
        """Raises StorageError."""
        self._log_dir = log_dir
        self._hosted = hosted
        self._journal = journal
        self._marks = dict(log_dir.high_watermarks())
        self._written: dict[tuple[str, int], int] = dict(self._marks)

    def initial(self, topic: str, index: int) -> int:
        """The mark that a partition starts from."""
        return self._marks.get((topic, index), 0)

    def forget(self, topic: str, index: int) -> None:
        self._marks.pop((topic, index), None)

    def write(self) -> None:
        """Write what changed since the last time. A disk that fails costs no more than that."""
        for partition in self._hosted:
            if not isinstance(partition.role, Offline):
                mark = partition.replica.high_watermark
                self._marks[partition.topic, partition.index] = mark
        if self._marks == self._written:
            return
        try:
            self._log_dir.write_high_watermarks(dict(sorted(self._marks.items())))
        except StorageError as error:
            self._journal.record(
                Event("high-watermarks-not-written", "log-dir", f"the disk failed: {error}")
            )
        else:
            self._written = dict(self._marks)
