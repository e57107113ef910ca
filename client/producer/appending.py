"""Handing a record over: to which partition, whether there is room, what waits and what is refused
(KafkaProducer.doSend).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from logquake.client.clock import Clock
from logquake.client.driving.steps import Call, Steps
from logquake.client.errors import (
    ClientError,
    ClosedError,
    DeliveryError,
    RecordTooLargeError,
    TimedOutError,
    TransactionError,
)
from logquake.client.network.metadata import Metadata
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import Appended, Full
from logquake.client.producer.delivery import Delivery, RecordMetadata, Results, nowhere
from logquake.client.producer.interceptors import Interceptors, place_wanted
from logquake.client.producer.leaders import Leaders, PartitionsOfTopic
from logquake.client.producer.memory import Lease
from logquake.client.producer.memory_waits import MemoryWaits
from logquake.client.producer.partitioning import Chooser, programs_choice
from logquake.client.producer.preparing import OnDelivery, Outgoing
from logquake.client.producer.topic_waits import TopicWaits
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.settings.producer import ProducerConfig
from logquake.wire.records import Record, size_bound

OF_THE_CALL = (ClosedError, TransactionError)  # send() raises them, the others its future
_OVERHEAD_BYTES = 128  # more than a batch of one record without headers has


class Appending:
    def __init__(
        self,
        config: ProducerConfig,
        clock: Clock,
        metadata: Metadata,
        accumulator: Accumulator,
        leaders: Callable[[], Leaders],
        topics: TopicWaits,
        memory: MemoryWaits,
        interceptors: Interceptors,
        transactions: TransactionSteps | None,
    ) -> None:
        self._config = config
        self._clock = clock
        self._metadata = metadata
        self._accumulator = accumulator
        self._topics = topics
        self._memory = memory
        self._interceptors = interceptors
        self._transactions = transactions
        self._most_bytes = min(config.max_request_size, config.buffer_memory)
        self._own_partitioner = config.partitioner_class
        self._ignores_keys = config.partitioner_ignore_keys
        self._chooser = Chooser(ignores_keys=self._ignores_keys)
        self._append_to_open = accumulator.append_to_open
        self._leaders = leaders
        # Without a look at each: what fits in a batch is no larger than allowed.
        self._may_stick = (
            self._own_partitioner is None
            and transactions is None
            and config.batch_size <= self._most_bytes
        )

    def at_once(self, outgoing: Outgoing) -> Appended[Delivery] | None:
        """None where it has to wait or to ask the program, or fails: in_time() says how."""
        topic, partition, record, on_delivery = outgoing
        try:
            if partition is None and self._may_stick and (record.key is None or self._ignores_keys):
                appended = self._append_to_open(topic, record, self._leaders)
                if appended is not None:
                    if on_delivery is not None:
                        _hear(appended.delivery, on_delivery)
                    return appended
            return self._try_at_once(outgoing)
        except Exception:  # noqa: BLE001 - whatever it is, in_time() meets it again
            return None

    def _try_at_once(self, outgoing: Outgoing) -> Appended[Delivery] | None:
        topic, partition, record, _ = outgoing
        if partition is None and self._own_partitioner is not None:
            return None
        known = self._topics.known(topic, partition)
        if known is None or self._may_be_too_large(record):
            return None
        tried = self._append(outgoing, known, None)
        if isinstance(tried, Full):
            self._accumulator.memory.release(tried.lease)
            return None
        return tried

    def in_time(self, outgoing: Outgoing) -> Steps[Delivery]:
        """In max.block.ms, else it has failed: what a record comes to its delivery tells.

        Raises ProducerClosedError, TransactionError, ValueError for what a partitioner chose, and
        what that raises.
        """
        deadline_ms = self._clock.now_ms() + self._config.max_block_ms
        try:
            delivery: Delivery = yield from self._wait_and_append(outgoing, deadline_ms)
        except Exception as error:
            if not isinstance(error, ClientError) or isinstance(error, OF_THE_CALL):
                topic, partition, *_ = outgoing
                yield Call(partial(self._interceptors.on_send_error, topic, partition, error))
                raise
            if self._transactions is not None:
                self._transactions.refused(error)
            delivery = _refused(outgoing, error)
            yield Call(delivery.tell)
        return delivery

    def _wait_and_append(self, outgoing: Outgoing, deadline_ms: int) -> Steps[Delivery]:
        now_ms = self._clock.now_ms()
        known = yield from self._topics.wait(
            outgoing.topic, outgoing.partition, now_ms, deadline_ms
        )
        outgoing = yield from self._with_partition(outgoing, known, deadline_ms)
        check_size(size_bound(outgoing.record), self._config)
        append = partial(self._append_known, outgoing)
        appended = yield from self._memory.appended(append, deadline_ms)
        return appended.delivery

    def _with_partition(
        self, outgoing: Outgoing, known: PartitionsOfTopic, deadline_ms: int
    ) -> Steps[Outgoing]:
        """The one that the program's own partitioner says, if there is one, and nothing else does.
        One that the topic has not yet is waited for.

        Raises ValueError, TypeError, what it raises, and TimedOutError.
        """
        topic, partition, record, _ = outgoing
        own = self._own_partitioner
        if partition is not None or own is None:
            return outgoing
        chosen: int = yield Call(
            partial(programs_choice, own, topic, record.key, record.value, known)
        )
        if chosen >= len(known.all):
            yield from self._topics.wait(topic, chosen, self._clock.now_ms(), deadline_ms)
        return outgoing._replace(partition=chosen)

    def _append_known(self, outgoing: Outgoing, lease: Lease | None) -> Appended[Delivery] | Full:
        known = self._topics.known(outgoing.topic, outgoing.partition)
        if known is None:  # deleted while memory was waited for, or a partitioner asked
            raise TimedOutError(f"topic {outgoing.topic} went while its record was taken")
        return self._append(outgoing, known, lease)

    def _append(
        self, outgoing: Outgoing, known: PartitionsOfTopic, lease: Lease | None
    ) -> Appended[Delivery] | Full:
        topic, partition, record, on_delivery = outgoing
        transactions = self._transactions
        if transactions is not None:
            transactions.check_may_send()
        chosen = self._chooser.choose(partition, record.key, known)
        leaders = self._leaders()
        now_ms = self._clock.now_ms()
        appended = self._accumulator.append(topic, chosen, record, leaders, now_ms, lease)
        if isinstance(appended, Full):
            return appended
        if appended.wakes:  # of each batch at least once, which is often enough
            self._metadata.use(topic, now_ms)
        if on_delivery is not None:
            _hear(appended.delivery, on_delivery)
        if transactions is not None:
            transactions.appended(appended.place)
        return appended

    def _may_be_too_large(self, record: Record) -> bool:
        _, _, key, value, headers = record
        if not headers:
            size = len(key or b"") + len(value or b"") + _OVERHEAD_BYTES
            if size <= self._most_bytes:
                return False
        return size_bound(record) > self._most_bytes


def check_size(size: int, config: ProducerConfig) -> None:
    """Of a batch of one record. Raises RecordTooLargeError."""
    for key, bound in (
        ("max.request.size", config.max_request_size),
        ("buffer.memory", config.buffer_memory),
    ):
        if size > bound:
            raise RecordTooLargeError(f"a record of {size} bytes is more than {key}={bound}")


def _refused(outgoing: Outgoing, error: ClientError) -> Delivery:
    topic, partition, record, on_delivery = outgoing
    results = Results(place_wanted(topic, partition))
    results.failed(lambda _: DeliveryError(error, may_be_written=False))
    delivery = Delivery(results, 0, record)
    if on_delivery is not None:
        _hear(delivery, on_delivery)
    return delivery


def _hear(delivery: Delivery, on_delivery: OnDelivery) -> None:
    delivery.when_done(partial(_tell, delivery, on_delivery))


def _tell(delivery: Delivery, on_delivery: OnDelivery) -> None:
    outcome, place = delivery.outcome, delivery.place
    if isinstance(outcome, RecordMetadata):
        on_delivery(outcome, None)
    else:
        on_delivery(nowhere(place), outcome)
