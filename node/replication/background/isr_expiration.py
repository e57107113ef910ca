"""Followers that lag leave the ISR (ReplicaManager.maybeShrinkIsr).

Time alone can only concern a partition whose followers have not everything, so only those are
looked at: each partition that was touched, until all of its ISR has its whole log and the high
watermark is at the end. A follower that is where the log ends is in sync whenever it fetched last;
one that falls back from there touches the partition.
"""

from __future__ import annotations

from logquake.node.replication.background.sliced_round import SlicedRound
from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import Partition
from logquake.seams.scheduler import Scheduler

_PARTITIONS_AT_A_TIME = 500


class IsrExpiration:
    def __init__(self, scheduler: Scheduler) -> None:
        self._unsettled: dict[Partition, None] = {}
        self._round = SlicedRound(scheduler, self._look_at, _PARTITIONS_AT_A_TIME)

    def __len__(self) -> int:
        """Partitions that the next run looks at."""
        return len(self._unsettled)

    def note(self, partition: Partition) -> None:
        """Something of the partition has changed."""
        self._unsettled[partition] = None

    def run(self) -> None:
        """Shrink ISRs, and let high watermarks go on that waited for a follower now gone."""
        self._round.start(sorted(self._unsettled, key=lambda each: (each.topic, each.index)))

    def _look_at(self, partition: Partition) -> None:
        leader = partition.leader
        if leader is not None:
            leading.shrink_isr(partition, leader)
            leading.advance_high_watermark(partition, leader)
        if leader is None or leading.is_settled(partition, leader):
            del self._unsettled[partition]
