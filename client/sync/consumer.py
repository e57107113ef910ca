"""The consumer whose calls block (KafkaConsumer)."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Self

from logquake.client.arguments import check_time
from logquake.client.consumer.callers import Threads
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
from logquake.client.errors import ConcurrentUseError
from logquake.client.network.partitions import PartitionNodes
from logquake.client.sync.threads import start_thread
from logquake.client.unclosed import tell_if_unclosed
from logquake.wire.topic_partition import TopicPartition


class Consumer(ConsumerFacade):
    """Reads topics as a member of a group, or partitions that the program names.

    `ConsumerFacade` says how one is made. For one thread at a time, but for `wakeup`; a thread of
    its own fetches, beats and commits meanwhile, so a program that works for long between two polls
    stays a member until max.poll.interval.ms.

        with Consumer(bootstrap_servers="localhost:9092", group_id="bills") as consumer:
            consumer.subscribe(["orders"])
            for record in consumer:
                print(record.offset, record.value)

    Whatever waits raises TimedOutError when its time is over, by default
    default.api.timeout.ms, and WakeupError; all raise ClosedError once it is closed,
    ConcurrentUseError, and the ClientError of what the cluster refuses.
    """

    def _start(self, founded: FoundedConsumer) -> None:
        self._driver = start_thread(
            founded.foundation, founded.consuming.core, founded.telling, founded.config.client_id
        )
        tell_if_unclosed(self, self._driver, founded.config.client_id)

    def _new_callers(self) -> Threads:
        return Threads(threading.get_ident)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Record by record, without an end; `wakeup` from another thread ends it.

        What it has handed out counts as read, the record in hand included; another loop, or poll,
        goes on behind that.
        """
        while True:
            yield from self._consuming.one_by_one
            self._driver.run(self._consuming.poll_for_loop(ITERATION_MS))

    # What is read

    def subscribe(
        self,
        topics: Collection[str] | re.Pattern[str],
        listener: RebalanceListener | None = None,
    ) -> None:
        """In the place of what was subscribed to; the group says in poll() who reads what. An empty
        list is as `unsubscribe`. A pattern has to match the whole of a name.

        Raises NoGroupError, ValueError where partitions or the other of the two were chosen.
        """
        self._driver.run(self._consuming.subscribe(topics, listener))

    def unsubscribe(self) -> None:
        """From topics, a pattern, or partitions; the group is left."""
        self._driver.run(self._consuming.unsubscribe())

    def assign(self, places: Collection[TopicPartition]) -> None:
        """In the place of what was assigned; no group. Raises ValueError while subscribed."""
        self._driver.run(self._consuming.assign(places))

    def assignment(self) -> frozenset[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.assignment())

    def subscription(self) -> frozenset[str]:
        """Topics, those that match a pattern included."""
        return self._driver.call(lambda _: self._consuming.subscription())

    # Records

    def poll(self, timeout_ms: int = 0) -> ConsumerRecords:
        """max.poll.records at most, once there are some. None come when time is up, and where only
        records passed that nobody may see.

        Raises NotSubscribedError, NoOffsetForPartitionError, OffsetOutOfRangeError,
        LogTruncatedError, CorruptRecordError, RecordDeserializationError, RebalanceListenerError.
        """
        driver, consuming, taken = self._driver, self._consuming, Taken()
        try:
            with driver.lock:
                at_hand = None if driver.is_closed else consuming.at_hand(driver.wake, taken)
            return driver.run(consuming.poll(timeout_ms, taken)) if at_hand is None else at_hand
        except BaseException:
            self._give_back(taken)
            raise

    def poll_batches(self, timeout_ms: int = 0) -> Mapping[TopicPartition, Sequence[StoredBatch]]:
        """As `poll`, batches as they are stored, for who parses many records at a time: checked,
        and none that nobody may see; max.poll.records of them at most.
        """
        taken = Taken()
        try:
            return self._driver.run(self._consuming.poll_batches(timeout_ms, taken))
        except BaseException:
            self._give_back(taken)
            raise

    def _give_back(self, taken: Taken) -> None:
        if taken:
            with self._driver.lock:
                taken.give_back()

    def pause(self, places: Collection[TopicPartition]) -> None:
        """Nothing of them is handed out until `resume`; they stay assigned."""
        self._driver.call(lambda _: self._consuming.seeking.pause(places))

    def resume(self, places: Collection[TopicPartition]) -> None:
        self._driver.call(lambda _: self._consuming.seeking.resume(places))

    def paused(self) -> set[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.seeking.paused())

    # Where it reads

    def seek(self, place: TopicPartition, to: int | OffsetAndMetadata) -> None:
        """The next poll goes on there. Raises NotAssignedError, ValueError where negative."""
        self._driver.call(lambda _: self._consuming.seeking.seek(place, to))

    def seek_to_beginning(self, places: Collection[TopicPartition] = ()) -> None:
        """Of all that are assigned, where none is named. Lazily: the next poll finds it out."""
        self._driver.call(lambda _: self._consuming.seeking.seek_to_beginning(places))

    def seek_to_end(self, places: Collection[TopicPartition] = ()) -> None:
        """As `seek_to_beginning`; with read_committed, to the last stable offset."""
        self._driver.call(lambda _: self._consuming.seeking.seek_to_end(places))

    def position(self, place: TopicPartition, timeout_ms: int | None = None) -> int:
        """The offset that is read next. Raises NotAssignedError, NoOffsetForPartitionError."""
        return self._driver.run(self._consuming.seeking.position(place, self._or_api(timeout_ms)))

    def current_lag(self, place: TopicPartition) -> int | None:
        """Records behind the position, as far as was told; None if nothing was told yet."""
        return self._driver.call(lambda _: self._consuming.asking.current_lag(place))

    # What is committed

    def commit(self, offsets: Offsets | None = None, timeout_ms: int | None = None) -> None:
        """Of all that was handed out, or what is said (Kafka's commitSync).

        Raises NoGroupError, CommitFailedError, RebalanceInProgressError.
        """
        self._driver.run(self._consuming.committing.commit(offsets, self._or_api(timeout_ms)))

    def commit_async(
        self, offsets: Offsets | None = None, callback: CommitCallback | None = None
    ) -> None:
        """The same, in the order of the calls, tried once; told in a later call."""
        self._driver.run(self._consuming.committing.commit_async(offsets, callback))

    def committed(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """None where nothing is. Raises NoGroupError."""
        return self._driver.run(
            self._consuming.committing.committed(places, self._or_api(timeout_ms))
        )

    # What the cluster has

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Of the first record at each time, or after it; None where there is none."""
        asking = self._consuming.asking
        return self._driver.run(asking.offsets_for_times(times_ms, self._or_api(timeout_ms)))

    def beginning_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        asking = self._consuming.asking
        return self._driver.run(asking.beginning_offsets(places, self._or_api(timeout_ms)))

    def end_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """What follows the last record that may be read."""
        asking = self._consuming.asking
        return self._driver.run(asking.end_offsets(places, self._or_api(timeout_ms)))

    def partitions_for(self, topic: str, timeout_ms: int | None = None) -> list[PartitionNodes]:
        """None of a topic that there is not."""
        asking = self._consuming.asking
        return self._driver.run(asking.partitions_for(topic, self._or_api(timeout_ms)))

    def list_topics(self, timeout_ms: int | None = None) -> dict[str, list[PartitionNodes]]:
        return self._driver.run(self._consuming.asking.list_topics(self._or_api(timeout_ms)))

    # The group, and the end

    def group_metadata(self) -> ConsumerGroupMetadata:
        """For a producer that commits in a transaction. Raises NoGroupError."""
        return self._driver.call(lambda _: self._consuming.group_metadata())

    def enforce_rebalance(self, reason: str = "rebalance enforced by user") -> None:
        """The next poll joins the group again. Raises NoGroupError."""
        self._driver.call(lambda _: self._consuming.enforce_rebalance(reason))

    def metrics(self) -> Groups:
        """What it has done, by group and under Kafka's names; of a topic by the group
        "consumer-fetch-manager-metrics:" and its name, of a partition likewise. Averages and maxima
        are of the last minute, and no numbers where there was nothing.
        """
        return self._driver.call(lambda _: self._consuming.metrics())

    def wakeup(self) -> None:
        """From any thread: the call that waits, or the next one that would, raises WakeupError."""
        self._driver.call(lambda _: self._consuming.wakeup())

    def close(self, timeout_ms: int = CLOSE_TIMEOUT_MS) -> None:
        """Commit where that is automatic, leave the group, end all connections. Once is enough.

        Raises RebalanceListenerError, when all is done; ConcurrentUseError, and it stays open.
        """
        check_time(timeout_ms)
        deadline_ms = self._driver.deadline_ms(timeout_ms)
        try:
            if not self._driver.is_closed:
                self._driver.run(self._consuming.close(timeout_ms))
        except ConcurrentUseError:
            raise
        except BaseException:
            self._driver.close(deadline_ms)
            raise
        self._driver.close(deadline_ms)
