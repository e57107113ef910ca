"""The batches of each partition, in the order in which they are sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, MutableSequence
from random import Random

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.partitioning import StickyPartitioner
from logquake.client.producer.sequence_order import is_before
from logquake.wire.topic_partition import TopicPartition

Queue = deque[ProducerBatch]


class TopicQueues:
    """``open`` is the batch for records without a partition while it has room."""

    def __init__(self, sticky: StickyPartitioner) -> None:
        self.sticky = sticky
        self.open: ProducerBatch | None = None
        self.by_partition: dict[int, Queue] = {}

    def of(self, partition: int) -> Queue:
        queue = self.by_partition.get(partition)
        if queue is None:
            queue = self.by_partition[partition] = deque()
        return queue

    def have(self, partition_count: int) -> None:
        """A topic created again may have fewer partitions: drop an open batch of a missing one."""
        if self.open is not None and self.open.place.partition >= partition_count:
            self.open = None


class Queues:
    """``muted`` partitions have a batch in flight; the next one has to wait for its outcome."""

    def __init__(self, stick_bytes: int, random: Random) -> None:
        self.topics: dict[str, TopicQueues] = {}
        self.muted: set[TopicPartition] = set()
        self._stick_bytes = stick_bytes
        self._random = random

    def topic(self, name: str) -> TopicQueues:
        topic = self.topics.get(name)
        if topic is None:
            sticky = StickyPartitioner(self._stick_bytes, self._random)
            topic = self.topics[name] = TopicQueues(sticky)
        return topic

    def of(self, place: TopicPartition) -> Queue:
        return self.topic(place.topic).of(place.partition)

    def find(self, place: TopicPartition) -> Queue | None:
        topic = self.topics.get(place.topic)
        return topic.by_partition.get(place.partition) if topic else None

    def each(self) -> Iterator[Queue]:
        for topic in self.topics.values():
            yield from topic.by_partition.values()

    def remove(self, batch: ProducerBatch) -> None:
        """Remove the batch, if it is still there."""
        queue = self.find(batch.place)
        if queue is not None and batch in queue:
            queue.remove(batch)


def all_full(queue: Queue) -> bool:
    """Check the last one: only that may still be filling."""
    return not queue or queue[-1].is_full


def insert_by_sequence(queue: MutableSequence[ProducerBatch], batch: ProducerBatch) -> None:
    """Before batches without a sequence, and before those with a higher one.

    Batches that were in flight to different brokers may fail in any order.
    """
    place = 0
    for other in queue:
        if not other.has_sequence:
            break
        if not is_before(other.stamp.base_sequence, batch.stamp.base_sequence):
            break
        place += 1
    queue.insert(place, batch)


def insert_by_age(queue: MutableSequence[ProducerBatch], batch: ProducerBatch) -> None:
    """After older batches that were tried as well, before all that were sent later.

    So the first of a queue is overdue first. Kafka's reenqueue puts the last failed one first.
    """
    place = 0
    for other in queue:
        is_older = other.created_ms < batch.created_ms
        if not is_older and (other.created_ms > batch.created_ms or not other.attempts):
            break
        place += 1
    queue.insert(place, batch)
