"""What one pass of the loop changes, and what its end does about it.

Requests that came in the pass are staged, partitions are touched. At its end the records are
written and who waits on a touched partition is woken, in this pass or in a later one.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.appends import Appends
from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.purgatories.delayed_delete_records import DeleteRecordsPurgatory
from logquake.node.replication.purgatories.delayed_fetch import FetchPurgatory
from logquake.node.replication.purgatories.delayed_produce import ProducePurgatory
from logquake.seams.scheduler import Scheduler


class Passes:
    """``appends``, ``fetches`` and ``deletions`` take requests in."""

    def __init__(
        self, hosted: HostedPartitions, scheduler: Scheduler, note: Callable[[Partition], None]
    ) -> None:
        """note is told of each partition that was touched in a pass, once."""
        self._produces = ProducePurgatory(scheduler)
        self._note = note
        self._touched: dict[Partition, None] = {}
        self.appends = Appends(hosted, self._produces)
        self.fetches = FetchPurgatory(hosted, scheduler)
        self.deletions = DeleteRecordsPurgatory(scheduler)

    def touch(self, partition: Partition) -> None:
        """Something of the partition has changed: who waits for it is woken at the pass's end."""
        partition.wake_resting()
        self._touched[partition] = None

    def end(self) -> None:
        """Write what is staged, then wake who waits on partitions that changed.

        An answer may bring new appends (a coordinator's): they belong to this pass too.
        """
        while self.appends.pending or self._touched:
            self.appends.complete()
            touched, self._touched = self._touched, {}
            for partition in touched:
                self._note(partition)
                self._produces.wake(partition)
                self.fetches.wake(partition)
                self.deletions.wake(partition)
            self.fetches.answer_woken()
