"""The producer as a program uses it, without I/O (KafkaProducer).

A call that may wait is a generator of steps, which `logquake.client.sync` carries out for callers
that block, and `logquake.client.aio` for those that await.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from logquake.client.arguments import check_callback, check_time_or_none, check_topic
from logquake.client.assembling import lay_foundation
from logquake.client.clock import Clock
from logquake.client.driving.steps import Steps, Wait
from logquake.client.errors import (
    ProducerClosedError,
    TimedOutError,
    TransactionStateError,
)
from logquake.client.network.partitions import PartitionNodes, partitions_of
from logquake.client.producer.accumulator import Accumulator
from logquake.client.producer.appending.admitting import Admitting
from logquake.client.producer.appending.interceptors import Interceptors
from logquake.client.producer.appending.memory_waits import MemoryWaits
from logquake.client.producer.appending.of_records import Appending
from logquake.client.producer.appending.of_rows import AppendingRows
from logquake.client.producer.appending.preparing import Preparing
from logquake.client.producer.appending.topic_waits import TopicWaits
from logquake.client.producer.configured import batching, numbering, sending
from logquake.client.producer.sender import Sender
from logquake.client.producer.statistics import Groups, ProducerEvent
from logquake.client.producer.transactions.steps import TransactionSteps
from logquake.client.producer.transactions.transactions import Transactions
from logquake.client.settings.kinds import LONG_MAX
from logquake.client.settings.producer import ProducerConfig
from logquake.client.settings.reading import read
from logquake.client.telling import Telling


class Producing:
    """The driver polls ``core``; these methods need exclusive access to it."""

    def __init__(
        self,
        config: Mapping[str, object],
        on_event: Callable[[ProducerEvent], object] | None,
        *,
        clock: Clock | None = None,
        random: Random | None = None,
    ) -> None:
        """The clock and the random generator default to the system's. Raises SettingsError, and
        TypeError for an ``on_event`` that is not callable.
        """
        check_callback(on_event, "on_event")
        settings = read(ProducerConfig, config)
        self.settings = settings
        self.name = f"kafka-producer-network-thread | {settings.client_id}"  # like a Java client's
        self.telling = Telling()
        self.foundation = lay_foundation(settings, clock=clock, random=random)
        self._clock = self.foundation.clock
        batches, numbers = batching(settings), numbering(settings)
        self._accumulator = Accumulator(batches, numbers, self.foundation.random, self.telling)
        network, metadata, updates = self.foundation[-3:]
        self.core = Sender(
            sending(settings), batches, self._accumulator, network, metadata, updates, numbers
        )
        if on_event is not None:
            heard = on_event
            self.core.statistics.on_event = lambda event: self.telling.add(partial(heard, event))
        self._topics = TopicWaits(
            metadata,
            updates,
            self.core,
            self._accumulator,
            settings.max_block_ms,
            network.trouble,
        )
        self._transactions: TransactionSteps | None = None
        if isinstance(numbers, Transactions):
            self._transactions = TransactionSteps(
                numbers, self._clock, settings.max_block_ms, network.trouble
            )
        interceptors = Interceptors(settings.interceptor_classes)
        self._preparing = Preparing(settings, interceptors, self._clock)
        leaders = self.core.leaders
        admitting = Admitting(
            settings,
            self._clock,
            metadata,
            self._accumulator,
            leaders,
            self._topics,
            MemoryWaits(
                self._accumulator, settings.buffer_memory, settings.max_block_ms, network.trouble
            ),
            self._transactions,
        )
        self.appending = Appending(
            settings,
            self._clock,
            self._topics,
            admitting,
            self._accumulator,
            leaders,
            interceptors,
        )
        self.appending_rows = AppendingRows(settings, self._clock, self._topics, admitting)
        preparing = self._preparing
        self.prepare = preparing.intercepted if interceptors else preparing.serialized

    @property
    def transactions(self) -> TransactionSteps:
        """Raises TransactionStateError without a transactional.id."""
        if self._transactions is None:
            raise TransactionStateError("there are no transactions without transactional.id")
        return self._transactions

    def flush(self, timeout_ms: int | None) -> Steps[None]:
        """Wait until all earlier records are done, callbacks included. Raises TimedOutError."""
        check_time_or_none(timeout_ms)
        deadline_ms = self._deadline_ms(timeout_ms)
        flush = self._accumulator.flush()
        told: list[bool] = []
        is_done = yield Wait(lambda: flush.is_done, deadline_ms)
        if is_done:
            self.telling.add(lambda: told.append(True))
            is_done = yield Wait(lambda: bool(told), deadline_ms)
        if not is_done:
            trouble = self.foundation.network.trouble()
            raise TimedOutError(
                f"flush: not all is written after {timeout_ms} ms; it goes on{trouble}"
            )

    def partitions_for(self, topic: str) -> Steps[list[PartitionNodes]]:
        """Raises as `TopicWaits.wait`, and TypeError for an invalid name."""
        check_topic(topic)
        now_ms = self._clock.now_ms()
        yield from self._topics.wait(topic, None, now_ms, now_ms + self.settings.max_block_ms)
        return partitions_of(self.foundation.metadata.snapshot, topic)

    def metrics(self) -> Groups:
        """Current values, by group and under Kafka's names."""
        foundation, memory = self.foundation, self._accumulator.memory
        now_ms = self._clock.now_ms()
        groups = self.core.statistics.metrics(now_ms)
        groups["producer-metrics"] |= {
            "requests-in-flight": foundation.links.in_flight,
            "connection-count": foundation.links.count,
            "metadata-age": (now_ms - foundation.metadata.updated_ms) / 1000,
            "buffer-total-bytes": memory.total_bytes,
            "buffer-available-bytes": memory.available_bytes,
            "waiting-threads": memory.waiting,
        }
        if self._transactions is not None:
            groups["producer-metrics"] |= self._transactions.metrics()
        return groups

    def close(self, timeout_ms: int | None) -> Steps[None]:
        """Accept no more records; the present ones have until the timeout to be written.

        A transaction that is not committed is aborted, if there is time.
        """
        deadline_ms = self._deadline_ms(timeout_ms)
        self._accumulator.close()
        if self._transactions is not None:
            self._transactions.begin_close()
        is_idle = False
        try:
            is_idle = yield Wait(lambda: self.core.is_idle, deadline_ms)
            if self._transactions is not None and is_idle:
                yield from self._transactions.end_what_is_open(deadline_ms)
        finally:  # also if interrupted by Ctrl-C or the task's cancellation
            if self._transactions is not None:
                self._transactions.close()
            if not is_idle:
                why = ProducerClosedError("the producer was closed before the record was written")
                self._accumulator.abort(why)

    def closed(self) -> None:
        """The driver has ended."""
        self._preparing.close()

    def _deadline_ms(self, timeout_ms: int | None) -> int:
        return LONG_MAX if timeout_ms is None else self._clock.now_ms() + timeout_ms
