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
    """Reads topics as a member of a group, or partitions that the program assigns.

    `ConsumerFacade` documents the arguments. Only one thread at a time may use it, except for
    `wakeup`. The consumer's own thread fetches, sends heartbeats and commits in the background, so
    a program may work between two polls for up to max.poll.interval.ms and stay a member.

        with Consumer(bootstrap_servers="localhost:9092", group_id="bills") as consumer:
            consumer.subscribe(["orders"])
            for record in consumer:
                print(record.offset, record.value)

    Calls that wait raise TimedOutError after ``timeout_ms``, by default default.api.timeout.ms,
    and WakeupError. Every call raises ClosedError once the consumer is closed,
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
        """Yield records one by one, endlessly; `wakeup` from another thread ends the loop.

        Each record counts as read once it has been yielded, the current one included; the next
        loop, or poll, continues after it.
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
        """Replace the subscription; the group assigns partitions during poll(). An empty list
        unsubscribes. A pattern must match the whole topic name.

        Raises NoGroupError, and ValueError if partitions are assigned, or if a pattern is given
        while topics are subscribed to, or the reverse.
        """
        self._driver.run(self._consuming.subscribe(topics, listener))

    def unsubscribe(self) -> None:
        """Give up topics, pattern or assigned partitions, and leave the group."""
        self._driver.run(self._consuming.unsubscribe())

    def assign(self, places: Collection[TopicPartition]) -> None:
        """Replace the assignment, without a group. Raises ValueError while subscribed."""
        self._driver.run(self._consuming.assign(places))

    def assignment(self) -> frozenset[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.assignment())

    def subscription(self) -> frozenset[str]:
        """The subscribed topics, including those that match the pattern."""
        return self._driver.call(lambda _: self._consuming.subscription())

    # Records

    def poll(self, timeout_ms: int = 0) -> ConsumerRecords:
        """Wait for records, and return at most max.poll.records. There are none if the time is up,
        or if the position only moved past records that no program may see.

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
        """Like `poll`, but returns batches as stored, for programs that parse many records at a
        time: CRCs are checked, invisible batches left out; at most max.poll.records batches.
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
        """Return no records of these partitions until `resume`; they stay assigned."""
        self._driver.call(lambda _: self._consuming.seeking.pause(places))

    def resume(self, places: Collection[TopicPartition]) -> None:
        self._driver.call(lambda _: self._consuming.seeking.resume(places))

    def paused(self) -> set[TopicPartition]:
        return self._driver.call(lambda _: self._consuming.seeking.paused())

    # Where it reads

    def seek(self, place: TopicPartition, to: int | OffsetAndMetadata) -> None:
        """The next poll reads from there. Raises NotAssignedError, ValueError if negative."""
        self._driver.call(lambda _: self._consuming.seeking.seek(place, to))

    def seek_to_beginning(self, places: Collection[TopicPartition] = ()) -> None:
        """Of all assigned partitions by default. Lazy: the next poll looks up the offsets."""
        self._driver.call(lambda _: self._consuming.seeking.seek_to_beginning(places))

    def seek_to_end(self, places: Collection[TopicPartition] = ()) -> None:
        """Like `seek_to_beginning`; with read_committed, to the last stable offset."""
        self._driver.call(lambda _: self._consuming.seeking.seek_to_end(places))

    def position(self, place: TopicPartition, timeout_ms: int | None = None) -> int:
        """The next offset to be read. Raises NotAssignedError, NoOffsetForPartitionError."""
        return self._driver.run(self._consuming.seeking.position(place, self._or_api(timeout_ms)))

    def current_lag(self, place: TopicPartition) -> int | None:
        """How many records the position lags behind the end, or None if not known yet."""
        return self._driver.call(lambda _: self._consuming.lookups.current_lag(place))

    # What is committed

    def commit(self, offsets: Offsets | None = None, timeout_ms: int | None = None) -> None:
        """Commit the positions after all returned records, or ``offsets`` (Kafka's commitSync).

        Raises NoGroupError, CommitFailedError, RebalanceInProgressError.
        """
        self._driver.run(self._consuming.committing.commit(offsets, self._or_api(timeout_ms)))

    def commit_async(
        self, offsets: Offsets | None = None, callback: CommitCallback | None = None
    ) -> None:
        """Commit without waiting or retrying, in call order; a later call runs ``callback``."""
        self._driver.run(self._consuming.committing.commit_async(offsets, callback))

    def committed(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """None for a partition without a committed offset. Raises NoGroupError."""
        return self._driver.run(
            self._consuming.committing.committed(places, self._or_api(timeout_ms))
        )

    # What the cluster has

    def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int], timeout_ms: int | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The offset of the first record at or after each time; None if there is none."""
        lookups = self._consuming.lookups
        return self._driver.run(lookups.offsets_for_times(times_ms, self._or_api(timeout_ms)))

    def beginning_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        lookups = self._consuming.lookups
        return self._driver.run(lookups.beginning_offsets(places, self._or_api(timeout_ms)))

    def end_offsets(
        self, places: Collection[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The offset after the last record that this consumer may read."""
        lookups = self._consuming.lookups
        return self._driver.run(lookups.end_offsets(places, self._or_api(timeout_ms)))

    def partitions_for(self, topic: str, timeout_ms: int | None = None) -> list[PartitionNodes]:
        """An empty list if the topic does not exist."""
        lookups = self._consuming.lookups
        return self._driver.run(lookups.partitions_for(topic, self._or_api(timeout_ms)))

    def list_topics(self, timeout_ms: int | None = None) -> dict[str, list[PartitionNodes]]:
        return self._driver.run(self._consuming.lookups.list_topics(self._or_api(timeout_ms)))

    # The group, and the end

    def group_metadata(self) -> ConsumerGroupMetadata:
        """For a producer that commits offsets in a transaction. Raises NoGroupError."""
        return self._driver.call(lambda _: self._consuming.group_metadata())

    def enforce_rebalance(self, reason: str = "rebalance enforced by user") -> None:
        """Make the next poll rejoin the group. Raises NoGroupError."""
        self._driver.call(lambda _: self._consuming.enforce_rebalance(reason))

    def metrics(self) -> Groups:
        """The consumer's metrics, by group and under Kafka's names; those of a topic, or partition,
        have the group "consumer-fetch-manager-metrics:" plus its name. Averages and maxima cover
        the last minute, and are NaN if nothing was measured.
        """
        return self._driver.call(lambda _: self._consuming.metrics())

    def wakeup(self) -> None:
        """From any thread: make the waiting call, or the next one to wait, raise WakeupError."""
        self._driver.call(lambda _: self._consuming.wakeup())

    def close(self, timeout_ms: int = CLOSE_TIMEOUT_MS) -> None:
        """Commit if enable.auto.commit is on, leave the group, and close all connections. Closing
        again does nothing.

        Raises RebalanceListenerError once all is done; after ConcurrentUseError it is still open.
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
