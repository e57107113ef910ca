"""Produce requests that wait until their records are replicated (Kafka's DelayedProduce).

A write waits under the Leader object that took it. If that leadership ends, the write may have
been truncated since, whatever the high watermark says now: it is answered
NOT_LEADER_OR_FOLLOWER, which tells the producer nothing about its fate.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count

from logquake.node.replication.partition import leading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Leader, Offline
from logquake.node.replication.purgatories.deadline_queue import DeadlineQueue
from logquake.node.replication.values import ProduceResult
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode

Done = Callable[[list[ProduceResult]], None]


class Write:
    """The part of a request that one partition took; ``result`` is what it will answer."""

    __slots__ = ("is_open", "leader", "partition", "required_offset", "result")

    def __init__(
        self,
        partition: Partition,
        leader: Leader,
        required_offset: int,
        result: ProduceResult,
    ) -> None:
        self.partition = partition
        self.leader = leader
        self.required_offset = required_offset  # the high watermark that commits it
        self.result = result
        self.is_open = True


class DelayedProduce:
    """One request: its results in its order, and the writes that settle them."""

    __slots__ = ("_done", "_open", "_results", "deadline_ms", "is_done", "writes")

    def __init__(
        self, results: list[ProduceResult], writes: list[Write], deadline_ms: int, done: Done
    ) -> None:
        self._results = results
        self._open = len(writes)
        self._done = done
        self.writes = writes
        self.deadline_ms = deadline_ms
        self.is_done = False

    def settle(self, write: Write, error: ErrorCode) -> None:
        """One write is decided; the last one answers the request."""
        write.is_open = False
        write.result.error = error
        self._open -= 1
        if self._open == 0:
            self.is_done = True
            self._done(self._results)


_Entry = tuple[int, int, Write, DelayedProduce]  # by required offset, then by arrival


class ProducePurgatory:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._deadlines: DeadlineQueue[DelayedProduce] = DeadlineQueue(scheduler, _time_out)
        self._waiting: dict[Partition, list[_Entry]] = {}
        self._arrivals = count()

    def __len__(self) -> int:
        """Writes in the queues; those that timed out may be counted for a while."""
        return sum(len(entries) for entries in self._waiting.values())

    def add(
        self, results: list[ProduceResult], writes: list[Write], timeout_ms: int, done: Done
    ) -> None:
        """Answer once every write is settled, at the latest after timeout_ms."""
        produce = DelayedProduce(results, writes, self._scheduler.now_ms() + timeout_ms, done)
        for write in writes:
            entry = (write.required_offset, next(self._arrivals), write, produce)
            heapq.heappush(self._waiting.setdefault(write.partition, []), entry)
        self._deadlines.add(produce, timeout_ms)

    def wake(self, partition: Partition) -> None:
        """Settle the writes to this partition that can be settled by now."""
        entries = self._waiting.get(partition)
        if entries is None:
            return
        while entries:
            _, _, write, produce = entries[0]
            error = verdict(write) if write.is_open else ErrorCode.NONE
            if error is None:
                return
            heapq.heappop(entries)
            if write.is_open:
                produce.settle(write, error)
        # Who was answered may have sent the next one at once, and that one woken the others.
        if self._waiting.get(partition) is entries:
            del self._waiting[partition]


def verdict(write: Write) -> ErrorCode | None:
    """What a write of acks=all is answered by now; None while it has to wait."""
    partition = write.partition
    if partition.role is not write.leader:
        if isinstance(partition.role, Offline):
            return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    return leading.replicated(partition, write.leader, write.required_offset)


def _time_out(produce: DelayedProduce) -> None:
    for write in produce.writes:
        if write.is_open:
            produce.settle(write, ErrorCode.REQUEST_TIMED_OUT)
