"""The consumer whose calls are awaited (KafkaConsumer)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

from logquake.client.aio.loops import start_on_loop, this_task
from logquake.client.arguments import check_time
from logquake.client.consumer.callers import Tasks
from logquake.client.consumer.facade import (
    CLOSE_TIMEOUT_MS,
    ITERATION_MS,
    ConsumerFacade,
    FoundedConsumer,
)
from logquake.client.consumer.fetch.batches import StoredBatch
from logquake.client.consumer.fetch.statistics import Groups
from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.group.listener import CommitCallback, Offsets, RebalanceListener
from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.consumer.positions.offset_lists import OffsetAndTimestamp
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.client.driving.steps import Steps
from logquake.client.errors import ConcurrentUseError
from logquake.client.network.partitions import PartitionNodes
from logquake.client.unclosed import tell_if_unclosed
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")


class Consumer(ConsumerFacade):
    """Like `logquake.client.sync.consumer.Consumer`, which documents what each call does and
    raises, on the loop that is running when it is created: there it fetches, sends heartbeats and
    commits between the calls. Only one task at a time may use it, except for `wakeup`. A listener's
    methods may be coroutines; they, and tasks they start, may call the consumer until they return.

        async with Consumer(bootstrap_servers="localhost:9092", group_id="bills") as consumer:
            await consumer.subscribe(["orders"])
            async for record in consumer:
                print(record.offset, record.value)

    Raises RuntimeError if no loop is running.
    """

    def _start(self, founded: FoundedConsumer) -> None:
        self._driver = start_on_loop(
            founded.foundation, founded.consuming.core, founded.telling, founded.config.client_id
        )
        tell_if_unclosed(self, self._driver, founded.config.client_id)

    def _new_callers(self) -> Tasks:
        self._callers = Tasks(this_task)
        return self._callers

    async def _run(self, steps: Steps[T]) -> T:
        return await self._driver.run(self._callers.heard(steps))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def __aiter__(self) -> AsyncIterator[ConsumerRecord]:
        """Yield records one by one, endlessly; `wakeup` ends the loop."""
        while True:
            for record in self._consuming.one_by_one:
                yield record
            await self._let_others_on()
            await self._run(self._consuming.poll_for_loop(ITERATION_MS))

    # What is read

    async def subscribe(
        self,
        topics: Collection[str] | re.Pattern[str],
        listener: RebalanceListener | None = None,
    ) -> None:
        await self._run(self._consuming.subscribe(topics, listener))

    async def unsubscribe(self) -> None:
        await self._run(self._consuming.unsubscribe())

    async def assign(self, places: Collection[TopicPartition]) -> None:
        await self._run(self._consuming.assign(places))

    def assignment(self) -> frozenset[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.assignment())

    def subscription(self) -> frozenset[str]:
        return self._driver.call(lambda _: self._consuming.subscription())

    # Records

    async def poll(self, timeout_ms: int = 0) -> ConsumerRecords:
        await self._let_others_on()
        driver, consuming, taken = self._driver, self._consuming, Taken()
        try:
            at_hand = None if driver.is_closed else consuming.at_hand(driver.wake, taken)
            if at_hand is not None:
                return at_hand
            return await self._run(consuming.poll(timeout_ms, taken))
        except BaseException:
            taken.give_back()
            raise

    async def _let_others_on(self) -> None:
        """Give other tasks on the loop a turn before any records are taken: a poll that is
        cancelled meanwhile loses none.
        """
        if self._consuming.has_something:
            with self._consuming.one_at_a_time():
                await asyncio.sleep(0)

    async def poll_batches(
        self, timeout_ms: int = 0
    ) -> Mapping[TopicPartition, Sequence[StoredBatch]]:
        taken = Taken()
        try:
            return await self._run(self._consuming.poll_batches(timeout_ms, taken))
        except BaseException:
            taken.give_back()
            raise

    def pause(self, places: Collection[TopicPartition]) -> None:
        self._driver.call(lambda _: self._consuming.seeking.pause(places))

    def resume(self, places: Collection[TopicPartition]) -> None:
        self._driver.call(lambda _: self._consuming.seeking.resume(places))

    def paused(self) -> set[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.seeking.paused())

    # Where it reads

    def seek(self, place: TopicPartition, to: int | OffsetAndMetadata) -> None:
        self._driver.call(lambda _: self._consuming.seeking.seek(place, to))

    def seek_to_beginning(self, places: Collection[TopicPartition] = ()) -> None:
        self._driver.call(lambda _: self._consuming.seeking.seek_to_beginning(places))

    def seek_to_end(self, places: Collection[TopicPartition] = ()) -> None:
        self._driver.call(lambda _: self._consuming.seeking.seek_to_end(places))

    async def position(self, place: TopicPartition, timeout_ms: int | None = None) -> int:
        return await self._run(self._consuming.seeking.position(place, self._or_api(timeout_ms)))

    def current_lag(self, place: TopicPartition) -> int | None:
        return self._driver.call(lambda _: self._consuming.lookups.current_lag(place))

    # What is committed

    async def commit(self, offsets: Offsets | None = None, timeout_ms: int | None = None) -> None:
        await self._run(self._consuming.committing.commit(offsets, self._or_api(timeout_ms)))

    async def commit_async(
        self, offsets: Offsets | None = None, callback: CommitCallback | None = None
    ) -> None:
        await self._run(self._consuming.committing.commit_async(offsets, callback))

    async def committed(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        return await self._run(
            self._consuming.committing.committed(places, self._or_api(timeout_ms))
        )

    # What the cluster has

    async def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        lookups = self._consuming.lookups
        return await self._run(lookups.offsets_for_times(times_ms, self._or_api(timeout_ms)))

    async def beginning_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        lookups = self._consuming.lookups
        return await self._run(lookups.beginning_offsets(places, self._or_api(timeout_ms)))

    async def end_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        lookups = self._consuming.lookups
        return await self._run(lookups.end_offsets(places, self._or_api(timeout_ms)))

    async def partitions_for(
        self, topic: str, timeout_ms: int | None = None
    ) -> list[PartitionNodes]:
        lookups = self._consuming.lookups
        return await self._run(lookups.partitions_for(topic, self._or_api(timeout_ms)))

    async def list_topics(self, timeout_ms: int | None = None) -> dict[str, list[PartitionNodes]]:
        return await self._run(self._consuming.lookups.list_topics(self._or_api(timeout_ms)))

    # The group, and the end

    def group_metadata(self) -> ConsumerGroupMetadata:
        return self._driver.call(lambda _: self._consuming.group_metadata())

    def enforce_rebalance(self, reason: str = "rebalance enforced by user") -> None:
        self._driver.call(lambda _: self._consuming.enforce_rebalance(reason))

    def metrics(self) -> Groups:
        return self._driver.call(lambda _: self._consuming.metrics())

    def wakeup(self) -> None:
        """Make the call that another task awaits, or the next one, raise WakeupError."""
        self._driver.call(lambda _: self._consuming.wakeup())

    async def close(self, timeout_ms: int = CLOSE_TIMEOUT_MS) -> None:
        check_time(timeout_ms)
        try:
            if not self._driver.is_closed:
                await self._run(self._consuming.close(timeout_ms))
        except ConcurrentUseError:
            raise
        except BaseException:
            self._driver.close()
            raise
        self._driver.close()
