"""All records from their append until they are done, gathered into batches (RecordAccumulator).

A caller appends a record and gets a delivery. The sender asks which brokers have something to be
sent, takes it, and puts back what has to be retried. Neither waits here: if buffer.memory is used
up, append returns what the caller waits for, and the caller tries again with it.
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

_new = tuple.__new__  # what a named tuple's own calls: half of its time, and one for each record


class Flush:
    """All that was appended before it is sent at once; `is_done` when each has its outcome."""

    def __init__(self, batches: Sequence[ProducerBatch]) -> None:
        self._left = deque(batches)

    @property
    def is_done(self) -> bool:
        """What a batch was split into is waited for too; Kafka 3.9 does not."""
        while self._left and self._left[0].is_settled:
            self._left.popleft()  # asked often, of many: nobody looks at it again
        return not self._left


class Accumulator:
    """Callbacks are called by ``telling``, without one as soon as it is a record's turn."""

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
        self._incomplete: dict[ProducerBatch, None] = {}  # in the order of their making
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
        """A record, or of a run as much as there is room for in one batch.

        ``partition`` None: any of the topic's, which ``leaders`` has to know. Where a batch is to
        be begun and memory is short it is None: come again once ``lease`` is granted. Whoever has
        one gives it back, unless it is used in the end; without one nothing is waited for.

        Raises ProducerClosedError, and RecordTooLargeError for what buffer.memory could never hold.
        Whatever else ends it, a signal handler's exception say, the batch is whole: the item is in
        it or is not, and what is counted of those that stick is that of some moment.
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
            # The batch that had no room had held back a switch, and is closed now.
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
        """The same, as for most records: to the batch that those without a partition go to. None
        where there is no such batch, or no room in it.
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
        if known is not None and known.all:  # else it went meanwhile
            self._produced(queues, batch, batch.estimated_bytes, leaders)

    def _produced(
        self, queues: TopicQueues, batch: ProducerBatch, before: int, leaders: Leaders
    ) -> None:
        """``batch`` has another record of those that stick."""
        has_switched = queues.sticky.produced(
            batch.estimated_bytes - before,
            leaders.topics[batch.place.topic],
            may_switch=batch.is_full,
        )
        queues.open = None if has_switched else batch

    def _stuck_to(self, queues: TopicQueues, topic: str, leaders: Leaders) -> int:
        """A switch that had waited for the last batch to be full is made up for."""
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
        """Of a first item. There is such a batch once it is in its queue."""
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
        """It never began."""
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
        """Built, at most one of each partition; each has to be brought back, or released."""
        batches = self._drain.drain(node_id, leaders, max_bytes, now_ms)
        for batch in batches:
            self._ratios.observe(batch.place.topic, batch.ratio)
        return batches

    def mute(self, place: TopicPartition) -> None:
        """Nothing of it is sent until it is unmuted: its order is that of its records."""
        self._queues.muted.add(place)

    def unmute(self, place: TopicPartition) -> None:
        self._queues.muted.discard(place)

    def try_again(self, batch: ProducerBatch, why: ClientError, now_ms: int) -> None:
        # Drawn once: who says when it is time, and who sends then, mean the same time.
        batch.will_retry(why, now_ms, self._backoff.after(batch.attempts))
        self._numbering.put_back(self._queues.of(batch.place), batch)

    def split(self, batch: ProducerBatch) -> int:
        """Too large: its records go again in smaller ones, as if none had been tried.

        With Kafka one that is no larger than batch.size goes again as it was (KAFKA-8350).
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
        """It is done: its memory can be had by others, its records are told in their turn."""
        self._incomplete.pop(batch, None)
        self._turns.settled(batch.place)
        if batch.lease is not None:
            self.memory.release(batch.lease)

    # What is given up

    def expired(self, now_ms: int) -> list[ProducerBatch]:
        """Taken out of the queues: longer than delivery.timeout.ms here."""
        overdue: list[ProducerBatch] = []
        for queue in self._queues.each():
            while queue and queue[0].is_overdue(self._settings.delivery_timeout_ms, now_ms):
                overdue.append(queue.popleft())
        return overdue

    def next_expiry_ms(self) -> int | None:
        """When the next of those that are not done may be given up."""
        oldest = next(iter(self._incomplete), None)
        return None if oldest is None else oldest.created_ms + self._settings.delivery_timeout_ms

    def abort(
        self,
        error: ClientError,
        which: Callable[[ProducerBatch], bool] = lambda _: True,
    ) -> None:
        """Give up what is not done, sent or not, so far as it is one of ``which``."""
        for batch in [batch for batch in self._incomplete if which(batch)]:
            self._queues.remove(batch)
            if batch.has_sequence:
                self._numbering.given_up(batch)
            batch.failed(lambda _: error)
            self.release(batch)

    # The end

    @property
    def records_held(self) -> int:
        """Of which the outcome is not known. It may be asked without the lock."""
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
        """Nothing is taken any more; what is there is sent without waiting for more."""
        self.is_closed = True
        self.memory.close()
