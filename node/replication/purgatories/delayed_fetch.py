"""Fetch requests, answered at once or when there is enough to send (Kafka's DelayedFetch).

A fetch that waits keeps what it has read of each partition, and reads again only those that were
touched since, once one of them has news. Of a session's partitions it has only those that the
session has to look at; others join it when they change. So a follower that waits on thousands of
partitions costs what the few busy ones cost, and one that times out next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from operator import attrgetter

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.hosted import HostedPartitions, Located
from logquake.node.replication.partition import reading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.purgatories.deadline_queue import DeadlineQueue
from logquake.node.replication.throttling import Throttle
from logquake.node.replication.values import (
    FetchParams,
    FetchPartition,
    FetchResult,
    PartitionKey,
    PartitionRead,
)
from logquake.seams.scheduler import Scheduler
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError

Done = Callable[[Sequence[PartitionRead]], None]

_BY_ARRIVAL = attrgetter("number")


class _Read(PartitionRead):
    """``where`` it is, as of when the fetch came to look at it."""

    __slots__ = ("where",)

    def __init__(self, asked: FetchPartition, where: Located) -> None:
        super().__init__(asked, _NOTHING_YET)
        self.where = where


_NOTHING_YET = FetchResult()


class DelayedFetch:
    """One request: what it looks at, and what was read so far."""

    __slots__ = (
        "deadline_ms",
        "done",
        "is_done",
        "number",
        "params",
        "reads",
        "stale",
        "throttle",
        "wants_answer",
    )

    def __init__(
        self,
        number: int,
        params: FetchParams,
        reads: list[_Read],
        done: Done,
        throttle: Throttle | None,
    ) -> None:
        self.number = number  # in the order of arrival
        self.params = params
        self.reads = reads
        self.stale: dict[_Read, None] = {}  # of partitions that were touched since
        self.done = done
        self.throttle = throttle  # of a follower's, where the leader has a rate
        self.deadline_ms = 0
        self.is_done = False
        self.wants_answer = False  # an error or a diverging epoch is news by itself

    def read_all(self) -> bool:
        """The first read of every partition; whether there is enough to answer."""
        return self._read_each(self.reads, 0, first_time=True)

    def read_stale(self) -> bool:
        """Read again what was touched; whether there is enough to answer."""
        stale, self.stale = sorted(self.stale, key=lambda read: read.asked.turn), {}
        for read in stale:
            read.result = _NOTHING_YET
        total = sum(len(read.result.records) for read in self.reads if read.result.records)
        return self._read_each(stale, total, first_time=False)

    def answer(self) -> None:
        self.is_done = True
        if self.throttle is not None:
            self._count(self.throttle)
        self.done(self.reads)

    def _count(self, throttle: Throttle) -> None:
        """Of those in sync too, so that all together keep to the rate."""
        sent = sum(
            len(read.result.records)
            for read in self.reads
            if read.result.records and _is_throttled(read.where)
        )
        if sent:
            throttle.record(sent)

    def _is_held_back(self, throttle: Throttle, partition: Partition) -> bool:
        """ReplicaManager.shouldLeaderThrottle."""
        leader = partition.leader
        return (
            _is_throttled(partition)
            and leader is not None
            and self.params.replica_id not in leader.isr.committed
            and throttle.is_exceeded
        )

    def _read_each(self, reads: Sequence[_Read], total: int, *, first_time: bool) -> bool:
        budget = self.params.max_bytes - total
        min_one_batch = not (self.params.hard_max_bytes or total)
        for read in reads:
            self._read(read, budget, min_one_batch, first_time=first_time)
            records = read.result.records
            if records is not None:
                size = len(records)
                total += size
                budget -= size
                min_one_batch = False
        return self.wants_answer or total >= self.params.min_bytes

    def _read(self, read: _Read, budget: int, min_one_batch: bool, *, first_time: bool) -> None:
        where = read.where
        if isinstance(where, ErrorCode):
            self.wants_answer = True
            read.result = reading.refuse_unlocated(where)
            return
        result = self._fetch(where, read.asked, budget, min_one_batch, first_time=first_time)
        read.result = result
        read.rests_at, read.changes = (where if result.is_final else None), where.changes
        if result.error is not ErrorCode.NONE or result.diverging_epoch is not None:
            self.wants_answer = True

    def _fetch(
        self,
        partition: Partition,
        asked: FetchPartition,
        budget: int,
        min_one_batch: bool,
        *,
        first_time: bool,
    ) -> FetchResult:
        if self.throttle is not None and self._is_held_back(self.throttle, partition):
            budget, min_one_batch = 0, False
        try:
            return reading.fetch(
                partition,
                self.params,
                asked,
                min(asked.max_bytes, budget),
                min_one_batch=min_one_batch,
                first_time=first_time,
            )
        except StorageError as error:
            partition.go_offline(str(error))
            return reading.refuse(partition, ErrorCode.KAFKA_STORAGE_ERROR)
        except RecordError as error:
            partition.note_damage(error.detail)
            return reading.refuse(partition, error.code)


def _is_throttled(where: Located) -> bool:
    if isinstance(where, ErrorCode):
        return False
    return where.config.throttled_leaders.includes(where.index, where.context.broker_id)


class FetchPurgatory:
    """``throttle`` is of what followers outside the ISR are sent."""

    def __init__(self, hosted: HostedPartitions, scheduler: Scheduler, throttle: Throttle) -> None:
        self._locate = hosted.locate_key
        self._throttle = throttle
        self._scheduler = scheduler
        self._deadlines: DeadlineQueue[DelayedFetch] = DeadlineQueue(scheduler, self._time_out)
        self._waiting: dict[Partition, dict[DelayedFetch, list[_Read]]] = {}
        self._woken: dict[DelayedFetch, None] = {}
        self._arrivals = count()

    def __len__(self) -> int:
        """Partitions that some fetch has looked at and waits on."""
        return len(self._waiting)

    def fetch(self, params: FetchParams, context: FetchContext, done: Done) -> None:
        """Read what the context has to look at; done is called with it for context.answer().

        At once when there are min_bytes, an error, a diverging epoch or no patience, else at the
        end of a later pass, or when max_wait_ms is over.
        """
        locate = self._locator(params)
        reads = [_Read(asked, locate(asked.key, asked.topic)) for asked in context.partitions]
        is_counted = params.replica_id >= 0 and self._throttle.is_set
        throttle = self._throttle if is_counted else None
        fetch = DelayedFetch(next(self._arrivals), params, reads, done, throttle)
        if fetch.read_all() or params.max_wait_ms <= 0 or context.is_empty:
            fetch.answer()
            return
        fetch.deadline_ms = self._scheduler.now_ms() + params.max_wait_ms
        for read in reads:
            self._wait_on(fetch, read)
        context.watch(lambda asked: self._join(fetch, asked))
        self._deadlines.add(fetch, params.max_wait_ms)

    def wake(self, partition: Partition) -> None:
        """Note that this partition may have news; answer_woken() looks at it."""
        for fetch, reads in self._waiting.get(partition, {}).items():
            for read in reads:
                fetch.stale[read] = None
                if reading.has_news(partition, fetch.params, read.asked):
                    self._woken[fetch] = None

    def answer_woken(self) -> None:
        """Read what was touched, once for each woken fetch, and answer those that have enough."""
        while self._woken:
            woken, self._woken = self._woken, {}
            for fetch in sorted(woken, key=_BY_ARRIVAL):
                if not fetch.is_done and fetch.read_stale():
                    self._answer(fetch)

    def _locator(self, params: FetchParams) -> Callable[[PartitionKey, str | None], Located]:
        """Where what the request asks for is, as far as its asker may read it."""
        access = params.access
        if access is None:
            return self._locate

        def locate(key: PartitionKey, topic: str | None) -> Located:
            if access.refuses(topic):
                return ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return self._locate(key, topic)

        return locate

    def _join(self, fetch: DelayedFetch, asked: FetchPartition) -> None:
        """A partition that rested while the fetch began has changed."""
        read = _Read(asked, self._locator(fetch.params)(asked.key, asked.topic))
        fetch.reads.append(read)
        fetch.stale[read] = None
        self._woken[fetch] = None
        self._wait_on(fetch, read)

    def _wait_on(self, fetch: DelayedFetch, read: _Read) -> None:
        if isinstance(read.where, Partition):
            self._waiting.setdefault(read.where, {}).setdefault(fetch, []).append(read)

    def _time_out(self, fetch: DelayedFetch) -> None:
        fetch.read_stale()
        self._answer(fetch)

    def _answer(self, fetch: DelayedFetch) -> None:
        for read in fetch.reads:
            where = read.where
            if isinstance(where, Partition):
                waiting = self._waiting.get(where, {})
                waiting.pop(fetch, None)
                if not waiting:
                    self._waiting.pop(where, None)
        fetch.answer()
