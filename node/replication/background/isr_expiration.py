"""Followers that lag leave the ISR (ReplicaManager.maybeShrinkIsr).

Time alone can only concern a partition whose followers have not everything, so only those are
looked at: each partition that was touched, until all of its ISR has its whole log and the high
watermark is at the end. A follower that is where the log ends is in sync whenever it fetched last;
one that falls back from there touches the partition.
"""

from __future__ import annotations

from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import Partition


class IsrExpiration:
    def __init__(self) -> None:
        self._unsettled: dict[Partition, None] = {}

    def __len__(self) -> int:
        """Partitions that the next run looks at."""
        return len(self._unsettled)

    def note(self, partition: Partition) -> None:
        """Something of the partition has changed."""
        self._unsettled[partition] = None

    def run(self) -> None:
        """Shrink ISRs, and let high watermarks go on that waited for a follower now gone."""
        for partition in sorted(self._unsettled, key=lambda each: (each.topic, each.index)):
            leader = partition.leader
            if leader is not None:
                leading.shrink_isr(partition, leader)
                leading.advance_high_watermark(partition, leader)
            if leader is None or leading.is_settled(partition, leader):
                del self._unsettled[partition]
