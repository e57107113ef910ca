"""All records from their append until they are done, gathered into batches (RecordAccumulator).

A caller appends a record and gets a delivery. The sender asks which brokers have something to be
sent, takes it, and puts back what has to be retried. Neither waits here: if buffer.memory is used
up, append returns None, and the caller tries again once its lease is granted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from random import Random

from logquake.client.errors import ClientError, ProducerClosedError
from logquake.client.network.backoff import ExponentialBackoff
from logquake.client.producer.appended import Appended, D, Item, Way
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.delivery import Delivery
from logquake.client.producer.drain import Drain
from logquake.client.producer.filling import Form
from logquake.client.producer.leaders import Leaders
from logquake.client.producer.memory import BufferMemory, Lease
from logquake.client.producer.numbering import Numbering
from logquake.client.producer.queues import Queue, Queues, TopicQueues, all_full
from logquake.client.producer.ratios import CompressionRatios
from logquake.client.producer.ready import NodeLatencies, Ready, ReadyCheck
from logquake.client.producer.settings import BatchingSettings
from logquake.client.producer.turns import Turns
from logquake.client.telling import Telling
from logquake.wire.records import Record
from logquake.wire.topic_partition import TopicPartition

_new = tuple.__new__  # what a named tuple's own __new__ calls: half the time, for each record


class Flush:
    """Records appended before it are sent at once; `is_done` when each has its outcome."""

    def __init__(self, batches: Sequence[ProducerBatch]) -> None:
        self._left = deque(batches)

    @property
    def is_done(self) -> bool:
        """Includes the parts of batches that were split, unlike in Kafka 3.9."""
        while self._left and self._left[0].is_settled:
            self._left.popleft()  # checked often, for many batches: skip done ones next time
        return not self._left


class Accumulator:
    """``telling`` runs callbacks; without it they run as soon as it is a record's turn."""

    def __init__(
        self,
        settings: BatchingSettings,
        numbering: Numbering,
        random: Random,
        telling: Telling | None = None,
    ) -> None:
        self.memory = BufferMemory(settings.buffer_bytes)
        self.latencies = NodeLatencies(settings.availability_timeout_ms)
        self._settings = settings
        self._numbering = numbering
        self._backoff = ExponentialBackoff(
            settings.retry_backoff_ms, settings.retry_backoff_max_ms, random
        )
        self._queues = Queues(max(1, settings.batch_bytes), random)
        self._ratios = CompressionRatios()
        self._ready = ReadyCheck(settings, self._queues, self.latencies)
        self._drain = Drain(self._queues, numbering)
        self._incomplete: dict[ProducerBatch, None] = {}  # in the order of creation
        self._turns = Turns(telling)
        self._flushes: list[Flush] = []
        self.is_closed = False

    # Appending

    def append(
        self,
        way: Way[Item, D],
        topic: str,
        partition: int | None,
        item: Item,
        leaders: Leaders,
        now_ms: int,
        lease: Lease | None = None,
    ) -> Appended[D] | None:
        """Append a record, or as much of a run as one batch has room for.

        ``partition`` None: any of the topic's, which ``leaders`` must know. Returns None if a new
        batch is needed and memory is short: call again once ``lease`` is granted. The caller
        releases its lease unless it is used; without one, no memory is reserved.

        Raises ProducerClosedError, and RecordTooLargeError for more than buffer.memory. Any other
        exception, such as a signal handler's, leaves the batch consistent: the item is in it or
        not, and the sticky partition's count may be slightly off.
        """
        if self.is_closed:
            raise ProducerClosedError("closed: it takes no more records")
        queues = self._queues.topic(topic)
        chosen = self._stuck_to(queues, topic, leaders) if partition is None else partition
        queue = queues.of(chosen)
        batch = queue[-1] if queue else None
        before = batch.estimated_bytes if batch is not None else 0
        delivery = way.try_append(batch, item) if batch is not None else None
        is_new = delivery is None
        if is_new and partition is None and self._stuck_to(queues, topic, leaders) != chosen:
            # The full batch, now closed, had delayed a switch to another partition.
            return self.append(way, topic, None, item, leaders, now_ms, lease)
        if batch is None or delivery is None:
            place = TopicPartition(topic, chosen)
            begun = self._begun(way, place, queue, item, now_ms, lease)
            if begun is None:
                return None
            batch, delivery = begun
            before = 0
        if partition is None:
            self._produced(queues, batch, before, leaders)
        return Appended(batch.place, delivery, is_new or batch.is_full)

    def append_to_open(
        self, topic: str, record: Record, leaders: Callable[[], Leaders]
    ) -> Appended[Delivery] | None:
        """The fast path for most records: to the open batch for records without a partition. None
        if there is none, or it is full.
        """
        queues = self._queues.topics.get(topic)
        if queues is None or (batch := queues.open) is None or self.is_closed:
            return None
        if (filling := batch.filling) is None:
            return None
        before = filling.estimated_bytes
        delivery = batch.try_append(record)
        if delivery is None:
            return None
        is_full, added = filling.is_full, filling.estimated_bytes - before
        if queues.sticky.counted(added, may_switch=is_full):
            self._switch(topic, queues, batch, leaders())
        return _new(Appended, (batch.place, delivery, is_full))

    def _switch(
        self, topic: str, queues: TopicQueues, batch: ProducerBatch, leaders: Leaders
    ) -> None:
        known = leaders.topics.get(topic)
        if known is not None and known.all:  # else the topic was deleted meanwhile
            self._produced(queues, batch, batch.estimated_bytes, leaders)

    def _produced(
        self, queues: TopicQueues, batch: ProducerBatch, before: int, leaders: Leaders
    ) -> None:
        """``batch`` got another record that follows the sticky partition."""
        has_switched = queues.sticky.produced(
            batch.estimated_bytes - before,
            leaders.topics[batch.place.topic],
            may_switch=batch.is_full,
        )
        queues.open = None if has_switched else batch

    def _stuck_to(self, queues: TopicQueues, topic: str, leaders: Leaders) -> int:
        """Catch up on a switch that was delayed until the last batch was full."""
        partitions = leaders.topics[topic]
        current = queues.sticky.current(partitions)
        if not all_full(queues.of(current)):
            return current
        queues.sticky.produced(0, partitions, may_switch=True)
        return queues.sticky.current(partitions)

    def _begun(
        self,
        way: Way[Item, D],
        place: TopicPartition,
        queue: Queue,
        item: Item,
        now_ms: int,
        lease: Lease | None,
    ) -> tuple[ProducerBatch, D] | None:
        """Begin a batch with a first item. The batch exists once it is in its queue."""
        size_bytes = max(self._settings.batch_bytes, way.bound_bytes(item))
        if lease is None:
            if not self.memory.has_at_once(size_bytes):
                return None
            lease = Lease()
        batch: ProducerBatch | None = None
        try:
            if not lease.is_asked_for:
                self.memory.reserve(lease, size_bytes)
            if not lease.is_granted:
                return None
            form = self._form(place.topic, lease)
            batch = ProducerBatch(place, now_ms, form, lease, way.new_filling)
            delivery = way.add_first(batch, item)
            self._incomplete[batch] = None
            self._turns.begins(batch)
            lease.is_used = True
            queue.append(batch)
        except BaseException:
            if not (queue and queue[-1].lease is lease):
                self._take_back(batch, lease)
            raise
        return batch, delivery

    def _take_back(self, batch: ProducerBatch | None, lease: Lease) -> None:
        """Undo the beginning of a batch."""
        lease.is_used = False
        self.memory.release(lease)
        if batch is not None:
            self._incomplete.pop(batch, None)
            self._turns.take_back(batch)

    def _form(self, topic: str, lease: Lease) -> Form:
        settings, ratio = self._settings, self._ratios.estimate(topic)
        return Form(
            lease.size_bytes, settings.codec, settings.level, ratio, settings.is_transactional
        )

    # Sending

    def ready(self, leaders: Leaders, now_ms: int) -> Ready:
        self._flushes = [flush for flush in self._flushes if not flush.is_done]
        hurries = (
            self.is_closed
            or self._numbering.hurries
            or bool(self._flushes)
            or self.memory.waiting > 0
        )
        return self._ready.check(leaders, now_ms, hurries=hurries)

    def drain(
        self, node_id: int, leaders: Leaders, max_bytes: int, now_ms: int
    ) -> list[ProducerBatch]:
        """Built batches, at most one per partition; put each back or release it later."""
        batches = self._drain.drain(node_id, leaders, max_bytes, now_ms)
        for batch in batches:
            self._ratios.observe(batch.place.topic, batch.ratio)
        return batches

    def mute(self, place: TopicPartition) -> None:
        """Send no batch of it until it is unmuted, to keep its records in order."""
        self._queues.muted.add(place)

    def unmute(self, place: TopicPartition) -> None:
        self._queues.muted.discard(place)

    def try_again(self, batch: ProducerBatch, why: ClientError, now_ms: int) -> None:
        # Drawn once, so that the check for ready batches and draining use the same time.
        batch.will_retry(why, now_ms, self._backoff.after(batch.attempts))
        self._numbering.put_back(self._queues.of(batch.place), batch)

    def split(self, batch: ProducerBatch) -> int:
        """The batch was too large: send its records in smaller ones, as if none had been tried.

        In Kafka one that is no larger than batch.size is sent unchanged (KAFKA-8350).
        """
        self._ratios.was_too_large(batch.place.topic, batch.ratio)
        parts = batch.split(self._settings.batch_bytes)
        queue = self._queues.of(batch.place)
        for part in reversed(parts):
            self._numbering.put_back(queue, part)
        all_of_them = sorted([*self._incomplete, *parts], key=attrgetter("created_ms"))
        self._incomplete = dict.fromkeys(all_of_them)
        self.release(batch)
        return len(parts)

    def release(self, batch: ProducerBatch) -> None:
        """It is done: release its memory, and run its callbacks in their turn."""
        self._incomplete.pop(batch, None)
        self._turns.settled(batch.place)
        if batch.lease is not None:
            self.memory.release(batch.lease)

    # What is given up

    def expired(self, now_ms: int) -> list[ProducerBatch]:
        """Remove and return batches older than delivery.timeout.ms from the queues."""
        overdue: list[ProducerBatch] = []
        for queue in self._queues.each():
            while queue and queue[0].is_overdue(self._settings.delivery_timeout_ms, now_ms):
                overdue.append(queue.popleft())
        return overdue

    def next_expiry_ms(self) -> int | None:
        """When delivery.timeout.ms of the oldest batch that is not done ends."""
        oldest = next(iter(self._incomplete), None)
        return None if oldest is None else oldest.created_ms + self._settings.delivery_timeout_ms

    def abort(
        self,
        error: ClientError,
        which: Callable[[ProducerBatch], bool] = lambda _: True,
    ) -> None:
        """Give up batches that are not done, sent or not, if ``which`` selects them."""
        for batch in [batch for batch in self._incomplete if which(batch)]:
            self._queues.remove(batch)
            if batch.has_sequence:
                self._numbering.given_up(batch)
            batch.failed(lambda _: error)
            self.release(batch)

    # The end

    @property
    def records_held(self) -> int:
        """Records without an outcome. May be called without the lock."""
        return sum(batch.count for batch in list(self._incomplete))

    @property
    def has_incomplete(self) -> bool:
        return bool(self._incomplete)

    @property
    def has_undrained(self) -> bool:
        return any(self._queues.each())

    def flush(self) -> Flush:
        flush = Flush(list(self._incomplete))
        self._flushes.append(flush)
        return flush

    def close(self) -> None:
        """Accept no more records, and send the present ones without lingering."""
        self.is_closed = True
        self.memory.close()
