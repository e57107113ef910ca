"""Appends a record: chooses the partition, checks for room, waits, or refuses it
(KafkaProducer.doSend).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from logquake.client.arguments import check_topic
from logquake.client.clock import Clock
from logquake.client.driving.steps import Call, Steps
from logquake.client.errors import DeliveryError
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appended import RECORDS, Appended
from logquake.client.producer.appending.admitting import Admitting
from logquake.client.producer.appending.interceptors import Interceptors, place_wanted
from logquake.client.producer.appending.preparing import OnDelivery, Outgoing
from logquake.client.producer.appending.topic_waits import TopicWaits
from logquake.client.producer.delivery import Delivery, RecordMetadata, Results, nowhere
from logquake.client.producer.leaders import Leaders, PartitionsOfTopic
from logquake.client.producer.partitioning import Chooser, programs_choice
from logquake.client.settings.producer import ProducerConfig
from logquake.wire.records import Record, size_bound

_OVERHEAD_BYTES = 128  # more than the overhead of a batch of one record without headers


class Appending:
    def __init__(
        self,
        config: ProducerConfig,
        clock: Clock,
        topics: TopicWaits,
        admitting: Admitting,
        accumulator: Accumulator,
        leaders: Callable[[], Leaders],
        interceptors: Interceptors,
    ) -> None:
        self._clock = clock
        self._topics = topics
        self._admitting = admitting
        self._append_to_open = accumulator.append_to_open
        self._leaders = leaders
        self._interceptors = interceptors
        self._most_bytes = min(config.max_request_size, config.buffer_memory)
        self._own_partitioner = config.partitioner_class
        self._ignores_keys = config.partitioner_ignore_keys
        self._chooser = Chooser(ignores_keys=self._ignores_keys)
        # Not computed for each record: what fits into a batch is never too large.
        self._may_stick = (
            self._own_partitioner is None
            and config.transactional_id is None
            and config.batch_size <= self._most_bytes
        )

    def at_once(self, outgoing: Outgoing) -> Appended[Delivery] | None:
        """None if it would have to wait, or call a function of the program: then call `in_time`.
        If it raises, pass the error to `failing`.
        """
        topic, partition, record, on_delivery = outgoing
        if partition is None and self._may_stick and (record.key is None or self._ignores_keys):
            appended = self._append_to_open(topic, record, self._leaders)
            if appended is not None:
                if on_delivery is not None:
                    _hear(appended.delivery, on_delivery)
                return appended
        return self._try_at_once(outgoing)

    def _try_at_once(self, outgoing: Outgoing) -> Appended[Delivery] | None:
        topic, partition, record, on_delivery = outgoing
        if partition is None and self._own_partitioner is not None:
            return None
        known = self._topics.known(topic, partition)
        if known is None or self._may_be_too_large(record):
            return None
        chosen = self._chooser.choose(partition, record.key, known)
        appended = self._admitting.append(RECORDS, topic, chosen, record)
        if appended is not None and on_delivery is not None:
            _hear(appended.delivery, on_delivery)
        return appended

    def in_time(self, outgoing: Outgoing) -> Steps[Delivery]:
        """Append within max.block.ms; otherwise the record has failed, as its delivery reports.

        Raises ProducerClosedError, TransactionError, ValueError for an invalid partition from the
        partitioner, and what the partitioner raises.
        """
        return self._told(outgoing, self._wait_and_append(outgoing))

    def failing(self, outgoing: Outgoing, error: Exception) -> Steps[Delivery]:
        """Handle an error from `at_once` like one from `in_time`. The record is not appended again:
        if a signal handler raised the error, it may be in a batch.
        """
        return self._told(outgoing, _failing(error))

    def _told(self, outgoing: Outgoing, steps: Steps[Delivery]) -> Steps[Delivery]:
        topic, partition, _, on_delivery = outgoing
        try:
            told = yield from self._admitting.or_refusal(steps)
        except Exception as error:
            yield Call(partial(self._interceptors.on_send_error, topic, partition, error))
            raise
        delivery = _refused(outgoing, told) if isinstance(told, DeliveryError) else told
        if on_delivery is not None:
            _hear(delivery, on_delivery)
        if isinstance(told, DeliveryError):
            yield Call(delivery.tell)
        return delivery

    def _wait_and_append(self, outgoing: Outgoing) -> Steps[Delivery]:
        topic, partition, record, _ = outgoing
        check_topic(topic)
        admitting = self._admitting
        admitting.check_may_append()
        deadline_ms = admitting.deadline_ms()
        known = yield from self._topics.wait(topic, partition, self._clock.now_ms(), deadline_ms)
        chosen = yield from self._choose(outgoing, known, deadline_ms)
        admitting.check_size(size_bound(record))
        appended = yield from admitting.append_in_time(RECORDS, topic, chosen, record, deadline_ms)
        return appended.delivery

    def _choose(
        self, outgoing: Outgoing, known: PartitionsOfTopic, deadline_ms: int
    ) -> Steps[int | None]:
        """Choose the partition. If the program's partitioner returns one that the topic does not
        have yet, wait for it.

        Raises ValueError, TypeError, what the partitioner raises, and TimedOutError.
        """
        topic, partition, record, _ = outgoing
        own = self._own_partitioner
        if partition is not None or own is None:
            return self._chooser.choose(partition, record.key, known)
        chosen: int = yield Call(
            partial(programs_choice, own, topic, record.key, record.value, known)
        )
        if chosen >= len(known.all):
            yield from self._topics.wait(topic, chosen, self._clock.now_ms(), deadline_ms)
        return chosen

    def _may_be_too_large(self, record: Record) -> bool:
        _, _, key, value, headers = record
        if not headers:
            size = len(key or b"") + len(value or b"") + _OVERHEAD_BYTES
            if size <= self._most_bytes:
                return False
        return size_bound(record) > self._most_bytes


def _failing(error: Exception) -> Steps[Delivery]:
    yield from ()
    raise error


def _refused(outgoing: Outgoing, refusal: DeliveryError) -> Delivery:
    topic, partition, record, _ = outgoing
    results = Results(place_wanted(topic, partition))
    results.failed(lambda _: refusal)
    return Delivery(results, 0, record)


def _hear(delivery: Delivery, on_delivery: OnDelivery) -> None:
    delivery.when_done(partial(_tell, delivery, on_delivery))


def _tell(delivery: Delivery, on_delivery: OnDelivery) -> None:
    outcome, place = delivery.outcome, delivery.place
    if isinstance(outcome, RecordMetadata):
        on_delivery(outcome, None)
    else:
        on_delivery(nowhere(place), outcome)
