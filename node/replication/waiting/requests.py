"""The requests of one pass, and those that wait for what later passes bring."""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.replication.hosted import HostedPartitions
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.waiting.appends import PassAppends
from logquake.node.replication.waiting.fetch_purgatory import FetchPurgatory
from logquake.node.replication.waiting.produce_purgatory import ProducePurgatory
from logquake.node.replication.waiting.record_deletion import RecordDeletionPurgatory
from logquake.seams.scheduler import Scheduler


class WaitingRequests:
    """``appends``, ``fetches`` and ``deletions`` take requests in."""

    def __init__(
        self, hosted: HostedPartitions, scheduler: Scheduler, note: Callable[[Partition], None]
    ) -> None:
        """note is told of each partition that was touched in a pass, once."""
        self._produces = ProducePurgatory(scheduler)
        self._note = note
        self._touched: dict[Partition, None] = {}
        self.appends = PassAppends(hosted, self._produces)
        self.fetches = FetchPurgatory(hosted, scheduler)
        self.deletions = RecordDeletionPurgatory(scheduler)

    def touch(self, partition: Partition) -> None:
        """Something of the partition has changed: who waits for it is woken at the pass's end."""
        partition.wake_resting()
        self._touched[partition] = None

    def end_of_pass(self) -> None:
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
