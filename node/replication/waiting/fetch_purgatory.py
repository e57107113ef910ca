"""Fetch requests, answered at once or when there is enough to send (Kafka's DelayedFetch).

A fetch that waits keeps what it has read of each partition, and reads again only those that were
touched since: a follower that waits on hundreds of partitions costs what the few busy ones cost,
and one that times out costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from logquake.controller.ports import Scheduler
from logquake.node.replication.api import FetchParams, FetchPartition, FetchResult
from logquake.node.replication.hosted import Located
from logquake.node.replication.partition import reading
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.waiting.deadline_queue import DeadlineQueue
from logquake.storage.errors import StorageError
from logquake.wire.errors import ErrorCode, RecordError

Done = Callable[[list[FetchResult]], None]


class DelayedFetch:
    """One request: what it asks, where that is, and what was read so far."""

    __slots__ = (
        "_asked",
        "_located",
        "_params",
        "deadline_ms",
        "done",
        "is_done",
        "results",
        "stale",
        "wants_answer",
    )

    def __init__(
        self,
        params: FetchParams,
        asked: Sequence[FetchPartition],
        located: list[Located],
        done: Done,
    ) -> None:
        self._params = params
        self._asked = asked
        self._located = located
        self.results: list[FetchResult] = []
        self.stale: list[int] = []  # indexes of partitions touched since they were read
        self.done = done
        self.deadline_ms = 0
        self.is_done = False
        self.wants_answer = False  # an error or a diverging epoch is news by itself

    def read_all(self) -> bool:
        """The first read of every partition; whether there is enough to answer."""
        budget = self._params.max_bytes
        min_one_batch = not self._params.hard_max_bytes
        total = 0
        for index, where in enumerate(self._located):
            result = self._read(index, where, budget, min_one_batch, first_time=True)
            self.results.append(result)
            if result.records is not None:
                size = len(result.records)
                total += size
                budget -= size
                min_one_batch = False
        return self._is_enough(total)

    def read_stale(self) -> bool:
        """Read again what was touched; whether there is enough to answer."""
        total = self._size_without_stale()
        budget = self._params.max_bytes - total
        min_one_batch = not (self._params.hard_max_bytes or total)
        for index in sorted(set(self.stale)):
            where = self._located[index]
            result = self._read(index, where, budget, min_one_batch, first_time=False)
            self.results[index] = result
            if result.records is not None:
                size = len(result.records)
                total += size
                budget -= size
                min_one_batch = False
        self.stale.clear()
        return self._is_enough(total)

    def waits_on(self) -> list[tuple[int, Partition]]:
        return [
            (index, where)
            for index, where in enumerate(self._located)
            if isinstance(where, Partition)
        ]

    def _size_without_stale(self) -> int:
        for index in self.stale:
            self.results[index].records = None
        return sum(len(result.records) for result in self.results if result.records is not None)

    def _is_enough(self, total: int) -> bool:
        return self.wants_answer or total >= self._params.min_bytes

    def _read(
        self, index: int, where: Located, budget: int, min_one_batch: bool, *, first_time: bool
    ) -> FetchResult:
        if isinstance(where, ErrorCode):
            self.wants_answer = True
            return reading.refuse_unlocated(where)
        asked = self._asked[index]
        try:
            result = reading.fetch(
                where,
                self._params,
                asked,
                min(asked.max_bytes, budget),
                min_one_batch=min_one_batch,
                first_time=first_time,
            )
        except StorageError as error:
            where.go_offline(str(error))
            result = reading.refuse(where, ErrorCode.KAFKA_STORAGE_ERROR)
        except RecordError as error:
            where.note_damage(error.detail)
            result = reading.refuse(where, error.code)
        if result.error is not ErrorCode.NONE or result.diverging_epoch is not None:
            self.wants_answer = True
        return result


class FetchPurgatory:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._deadlines: DeadlineQueue[DelayedFetch] = DeadlineQueue(scheduler, self._answer)
        self._waiting: dict[Partition, dict[DelayedFetch, list[int]]] = {}
        self._woken: dict[DelayedFetch, None] = {}

    def __len__(self) -> int:
        """Partitions that some fetch waits on."""
        return len(self._waiting)

    def fetch(
        self,
        params: FetchParams,
        asked: Sequence[FetchPartition],
        located: list[Located],
        done: Done,
    ) -> None:
        """Answer now if there is enough, else when there is, at the latest after max_wait_ms."""
        fetch = DelayedFetch(params, asked, located, done)
        if fetch.read_all() or params.max_wait_ms <= 0 or not asked:
            fetch.is_done = True
            done(fetch.results)
            return
        fetch.deadline_ms = self._scheduler.now_ms() + params.max_wait_ms
        for index, partition in fetch.waits_on():
            self._waiting.setdefault(partition, {}).setdefault(fetch, []).append(index)
        self._deadlines.add(fetch, params.max_wait_ms)

    def wake(self, partition: Partition) -> None:
        """Note that this partition may have news; answer_woken() looks at it."""
        for fetch, indexes in self._waiting.get(partition, {}).items():
            fetch.stale += indexes
            self._woken[fetch] = None

    def answer_woken(self) -> None:
        """Read what was touched, once for each woken fetch, and answer those that have enough."""
        while self._woken:
            woken, self._woken = self._woken, {}
            for fetch in woken:
                if not fetch.is_done and fetch.read_stale():
                    self._answer(fetch)

    def _answer(self, fetch: DelayedFetch) -> None:
        fetch.is_done = True
        for _, partition in fetch.waits_on():
            waiting = self._waiting.get(partition, {})
            waiting.pop(fetch, None)
            if not waiting:
                self._waiting.pop(partition, None)
        fetch.done(fetch.results)
