"""What a program does with a producer, without I/O (KafkaProducer).

A call that may wait is a generator of steps, which `logquake.client.sync` carries out for callers
that block, and `logquake.client.aio` for those that await.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from logquake.client.assembling import lay_foundation
from logquake.client.driving.steps import Call, Steps, Wait
from logquake.client.errors import (
    ClientError,
    ClosedError,
    DeliveryError,
    ProducerClosedError,
    RecordTooLargeError,
    TimedOutError,
    TransactionError,
    TransactionStateError,
)
from logquake.client.partitions import PartitionNodes, partitions_of
from logquake.client.producer.accumulator import Accumulator, Appended, Full
from logquake.client.producer.configured import batching, numbering, sending
from logquake.client.producer.delivery import Delivery, RecordMetadata, Results, nowhere
from logquake.client.producer.interceptors import Interceptors, place_wanted
from logquake.client.producer.memory import Lease
from logquake.client.producer.partitioning import Chooser
from logquake.client.producer.record import ProducerRecord
from logquake.client.producer.sender import Sender
from logquake.client.producer.serializing import serialize_by
from logquake.client.producer.topic_waits import TopicWaits
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.producer.transactions.transactions import Transactions
from logquake.client.settings.kinds import LONG_MAX
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import merged, read
from logquake.client.telling import Telling
from logquake.wire.records import Record, size_bound

OnDelivery: TypeAlias = Callable[[RecordMetadata, Exception | None], object]
"""Kafka's Callback: where the record is, or where it was to go and why it is not there."""


class Outgoing(NamedTuple):
    """A record as it leaves: serialized, and who wants to hear of it."""

    topic: str
    partition: int | None
    record: Record
    on_delivery: OnDelivery | None


class Producing:
    """``core`` is to be driven; nobody else may use it while one of these methods does."""

    def __init__(
        self, config: Mapping[str, object] | None, keys: Mapping[str, object | None]
    ) -> None:
        """``keys`` that are None are not set. Raises SettingsError."""
        given = {name: value for name, value in keys.items() if value is not None}
        settings = read(ProducerConfig, merged(config, given))
        self.settings = settings
        self.name = f"kafka-producer-network-thread | {settings.client_id}"  # as a Java one's
        self.telling = Telling()
        self.foundation = lay_foundation(settings)
        self._clock = self.foundation.clock
        batches, numbers = batching(settings), numbering(settings)
        self._accumulator = Accumulator(batches, numbers, self.foundation.random, self.telling)
        network, metadata, updates = self.foundation[-3:]
        self.core = Sender(
            sending(settings), batches, self._accumulator, network, metadata, updates, numbers
        )
        self._topics = TopicWaits(
            metadata, updates, self.core, self._accumulator, settings.max_block_ms
        )
        self._chooser = Chooser(
            settings.partitioner_class, ignores_keys=settings.partitioner_ignore_keys
        )
        self._transactions: TransactionSteps | None = None
        if isinstance(numbers, Transactions):
            self._transactions = TransactionSteps(numbers, self._clock, settings.max_block_ms)
        self._interceptors = Interceptors(settings.interceptor_classes)
        self._serialize_key = serialize_by(settings.key_serializer, "key")
        self._serialize_value = serialize_by(settings.value_serializer, "value")

    @property
    def transactions(self) -> TransactionSteps:
        """Raises TransactionStateError without a transactional.id."""
        if self._transactions is None:
            raise TransactionStateError("there are no transactions without transactional.id")
        return self._transactions

    # Sending

    def prepare(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> Outgoing:
        """By the program's interceptors and serializers; the core is not touched.

        Raises SerializationError, and ValueError for a partition or a time below 0.
        """
        record = self._interceptors.on_send(record)
        try:
            return self._serialized(record, on_delivery)
        except Exception as error:
            self._interceptors.on_send_error(record, error)
            raise

    def _serialized(self, record: ProducerRecord, on_delivery: OnDelivery | None) -> Outgoing:
        topic, value, key, partition, timestamp_ms, headers = record
        if partition is not None and partition < 0:
            raise ValueError(f"partition {partition}: a partition is never below 0")
        if timestamp_ms is None:
            timestamp_ms = self._clock.wall_ms()
        elif timestamp_ms < 0:
            raise ValueError(f"timestamp_ms={timestamp_ms}: a record's time is never below 0")
        key_bytes = self._serialize_key(topic, headers, key)
        value_bytes = self._serialize_value(topic, headers, value)
        if self._interceptors:
            on_delivery = partial(self._acknowledge, on_delivery)
        return Outgoing(
            topic,
            partition,
            Record(0, timestamp_ms, key_bytes, value_bytes, tuple(headers)),
            on_delivery,
        )

    def _acknowledge(
        self,
        on_delivery: OnDelivery | None,
        metadata: RecordMetadata,
        error: Exception | None,
    ) -> None:
        self._interceptors.on_acknowledgement(metadata, error)
        if on_delivery is not None:
            on_delivery(metadata, error)

    def append(self, outgoing: Outgoing) -> Appended | None:
        """At once; None where it has to wait, or may fail. Raises ProducerClosedError,
        TransactionError, and ValueError for what a partitioner chose.
        """
        known = self._topics.known(outgoing.topic, outgoing.partition)
        if known is None or self._is_too_large(outgoing.record):
            return None
        self.foundation.metadata.use(outgoing.topic, self._clock.now_ms())
        appended = self._append(outgoing, None)
        if isinstance(appended, Full):
            self._accumulator.memory.release(appended.lease)
            return None
        return appended

    def append_in_time(self, outgoing: Outgoing) -> Steps[Delivery]:
        """In max.block.ms, else it has failed: what a record comes to its delivery tells.

        Raises as append().
        """
        deadline_ms = self._clock.now_ms() + self.settings.max_block_ms
        try:
            delivery: Delivery = yield from self._wait_and_append(outgoing, deadline_ms)
        except (ClosedError, TransactionError) as error:
            self._tell_interceptors(outgoing, error)
            raise
        except ClientError as error:
            if self._transactions is not None:
                self._transactions.refused(error)
            delivery = self._refused(outgoing, error)
            yield Call(delivery.tell)
        return delivery

    def _wait_and_append(self, outgoing: Outgoing, deadline_ms: int) -> Steps[Delivery]:
        yield from self._topics.wait(
            outgoing.topic, outgoing.partition, self._clock.now_ms(), deadline_ms
        )
        self._check_size(outgoing.record)
        appended = self._append(outgoing, None)
        while isinstance(appended, Full):
            yield from self._await_memory(appended.lease, deadline_ms)
            appended = self._append(outgoing, appended.lease)
        return appended.delivery

    def _append(self, outgoing: Outgoing, lease: Lease | None) -> Appended | Full:
        topic, partition, record, on_delivery = outgoing
        transactions = self._transactions
        if transactions is not None:
            transactions.check_may_send()
        leaders = self.core.leaders()
        chosen = self._chooser.choose(
            topic, partition, record.key, record.value, leaders.topics[topic]
        )
        now_ms = self._clock.now_ms()
        appended = self._accumulator.append(topic, chosen, record, leaders, now_ms, None, lease)
        if on_delivery is not None and isinstance(appended, Appended):
            delivery = appended.delivery
            delivery.when_done(partial(_tell, delivery, on_delivery))
        if transactions is not None and isinstance(appended, Appended):
            transactions.appended(appended.place)
        return appended

    def _await_memory(self, lease: Lease, deadline_ms: int) -> Steps[None]:
        is_worth_a_try = False
        try:
            is_worth_a_try = yield Wait(
                lambda: lease.is_granted or self._accumulator.is_closed, deadline_ms
            )
        finally:
            if not is_worth_a_try or self._accumulator.is_closed:
                self._accumulator.memory.release(lease)
        if not is_worth_a_try:
            raise TimedOutError(
                f"buffer.memory={self.settings.buffer_memory} was used up for "
                f"max.block.ms={self.settings.max_block_ms}: records come faster than they are sent"
            )

    def _is_too_large(self, record: Record) -> bool:
        return size_bound(record) > min(self.settings.max_request_size, self.settings.buffer_memory)

    def _check_size(self, record: Record) -> None:
        size = size_bound(record)
        for key, bound in (
            ("max.request.size", self.settings.max_request_size),
            ("buffer.memory", self.settings.buffer_memory),
        ):
            if size > bound:
                raise RecordTooLargeError(f"a record of {size} bytes is more than {key}={bound}")

    def _refused(self, outgoing: Outgoing, error: ClientError) -> Delivery:
        topic, partition, record, on_delivery = outgoing
        delivery = Delivery(record.timestamp_ms, record.key, record.value)
        results = Results(place_wanted(topic, partition))
        results.failed(lambda _: DeliveryError(error, may_be_written=False))
        delivery.joins(results, 0)
        if on_delivery is not None:
            delivery.when_done(partial(_tell, delivery, on_delivery))
        return delivery

    def _tell_interceptors(self, outgoing: Outgoing, error: Exception) -> None:
        place = place_wanted(outgoing.topic, outgoing.partition)
        self._interceptors.on_acknowledgement(nowhere(place), error)

    # Other calls

    def flush(self, timeout_ms: int | None) -> Steps[None]:
        """All that was sent before is done, and its callbacks are called. Raises TimedOutError."""
        deadline_ms = self._deadline_ms(timeout_ms)
        flush = self._accumulator.flush()
        told: list[bool] = []
        is_done = yield Wait(lambda: flush.is_done, deadline_ms)
        if is_done:
            self.telling.add(lambda: told.append(True))
            is_done = yield Wait(lambda: bool(told), deadline_ms)
        if not is_done:
            raise TimedOutError(f"flush: not all is written after {timeout_ms} ms; it goes on")

    def partitions_for(self, topic: str) -> Steps[list[PartitionNodes]]:
        """Raises as `TopicWaits.wait`."""
        now_ms = self._clock.now_ms()
        yield from self._topics.wait(topic, None, now_ms, now_ms + self.settings.max_block_ms)
        return partitions_of(self.foundation.metadata.snapshot, topic)

    def close(self, timeout_ms: int | None) -> Steps[None]:
        """Nothing is taken any more; what is there has so long to be written.

        A transaction that is not committed is aborted, if there is time for that.
        """
        deadline_ms = self._deadline_ms(timeout_ms)
        self._accumulator.close()
        is_idle = yield Wait(lambda: self.core.is_idle, deadline_ms)
        if self._transactions is not None:
            if is_idle:
                yield from self._transactions.end_what_is_open(deadline_ms)
            self._transactions.close()
        if not is_idle:
            self._accumulator.abort(ProducerClosedError("the producer was closed before it was"))

    def closed(self) -> None:
        """Nobody drives it any more."""
        self._interceptors.close()
        for each in (self.settings.key_serializer, self.settings.value_serializer):
            close: Callable[[], Any] | None = getattr(each, "close", None)
            if close is not None:
                close()

    def _deadline_ms(self, timeout_ms: int | None) -> int:
        return LONG_MAX if timeout_ms is None else self._clock.now_ms() + timeout_ms


def _tell(delivery: Delivery, on_delivery: OnDelivery) -> None:
    outcome, place = delivery.outcome, delivery.place
    if isinstance(outcome, RecordMetadata):
        on_delivery(outcome, None)
    elif place is not None:
        on_delivery(nowhere(place), outcome)
