"""Giving up a partition's oldest records on request (KIP-107), and waiting until all replicas did.

Follows Kafka 3.9's Partition.deleteRecordsOnLeader, lowWatermarkIfLeader and DelayedDeleteRecords.
The leader's log starts at the offset at once. Followers learn of it from their next Fetch answer
and report their own start with the Fetch after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logquake.node.replication.hosted import HostedPartitions, Located
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Leader, Offline
from logquake.node.replication.purgatories.deadline_queue import DeadlineQueue
from logquake.node.replication.values import DeletedRecords
from logquake.seams.scheduler import Scheduler
from logquake.storage.errors import OffsetOutOfRange
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import HIGH_WATERMARK

Done = Callable[[list[DeletedRecords]], None]


def low_watermark(partition: Partition, leader: Leader) -> int:
    """The least log start of the replicas that are alive; UNKNOWN_OFFSET while one has not told."""
    is_alive = partition.context.is_alive
    starts = [
        progress.log_start for replica, progress in leader.followers.items() if is_alive(replica)
    ]
    return min([partition.replica.start, *starts])


class Deletion:
    """One partition's part of a request; ``result`` is what it will answer."""

    __slots__ = ("offset", "partition", "result")

    def __init__(self, where: Located, offset: int) -> None:
        """Raise the start of the partition's log to offset, if that can be."""
        self.partition = where if isinstance(where, Partition) else None
        self.offset = offset
        error = self._raise_start() if isinstance(where, Partition) else where
        self.result = DeletedRecords(error)
        self.check()

    @property
    def is_open(self) -> bool:
        """Done here, and not yet by some follower."""
        result = self.result
        return result.error is ErrorCode.NONE and result.low_watermark < self.offset

    def check(self) -> None:
        """Bring an open deletion up to date."""
        partition = self.partition
        if partition is None or not self.is_open:
            return
        leader = partition.leader
        if leader is not None:
            self.result.low_watermark = low_watermark(partition, leader)
        else:
            self.result = DeletedRecords(_error_of(partition))

    def _raise_start(self) -> ErrorCode:
        partition = self.partition
        if partition is None or partition.leader is None:
            return _error_of(partition)
        if not partition.config.log.deleted:
            return ErrorCode.POLICY_VIOLATION
        replica = partition.replica
        if self.offset == HIGH_WATERMARK:
            self.offset = replica.high_watermark
        if self.offset < 0:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        try:
            raised = replica.raise_start(self.offset, "a client deleted the records before")
        except OffsetOutOfRange:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        if raised:
            partition.context.touched(partition)
        return ErrorCode.NONE


def _error_of(partition: Partition | None) -> ErrorCode:
    """Why a partition that is not led here takes no deletions."""
    is_offline = partition is not None and isinstance(partition.role, Offline)
    return ErrorCode.KAFKA_STORAGE_ERROR if is_offline else ErrorCode.NOT_LEADER_OR_FOLLOWER


class DelayedDeleteRecords:
    __slots__ = ("deadline_ms", "deletions", "done", "is_done")

    def __init__(self, deletions: Sequence[Deletion], deadline_ms: int, done: Done) -> None:
        self.deletions = deletions
        self.deadline_ms = deadline_ms
        self.done = done
        self.is_done = False

    def finish(self) -> None:
        self.is_done = True
        self.done([deletion.result for deletion in self.deletions])


class DeleteRecordsPurgatory:
    """Requests whose deletions some live replica has not followed yet."""

    def __init__(self, hosted: HostedPartitions, scheduler: Scheduler) -> None:
        self._locate = hosted.locate
        self._scheduler = scheduler
        self._deadlines: DeadlineQueue[DelayedDeleteRecords] = DeadlineQueue(scheduler, _time_out)
        self._waiting: dict[Partition, list[DelayedDeleteRecords]] = {}

    def delete(self, asked: Sequence[tuple[str, int, int]], timeout_ms: int, done: Done) -> None:
        """Let the log of each (topic, partition, offset) start at the offset; -1: all committed.

        done is called with the results in order when every live replica did so, or when
        timeout_ms is over.
        """
        deletions = [Deletion(self._locate(topic, index), offset) for topic, index, offset in asked]
        waiting = DelayedDeleteRecords(deletions, self._scheduler.now_ms() + timeout_ms, done)
        watched = dict.fromkeys(d.partition for d in deletions if d.is_open and d.partition)
        if not watched:
            waiting.finish()
            return
        for partition in watched:
            self._waiting.setdefault(partition, []).append(waiting)
        self._deadlines.add(waiting, timeout_ms)

    def wake(self, partition: Partition) -> None:
        """Answer the requests that waited for this partition alone."""
        here = self._waiting.pop(partition, None)
        if here is None:
            return
        for waiting in here:
            for deletion in waiting.deletions:
                deletion.check()
            if not waiting.is_done and not any(d.is_open for d in waiting.deletions):
                waiting.finish()
        still = [
            waiting
            for waiting in here
            if not waiting.is_done
            and any(d.is_open and d.partition is partition for d in waiting.deletions)
        ]
        if still:
            self._waiting[partition] = still


def _time_out(waiting: DelayedDeleteRecords) -> None:
    for deletion in waiting.deletions:
        if deletion.is_open:
            deletion.result.error = ErrorCode.REQUEST_TIMED_OUT
    waiting.finish()
