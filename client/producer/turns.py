"""Runs the callbacks of a partition's records in the order of their sends.

KafkaProducer.send promises that, but Kafka's Sender completes each batch as it is done. The orders
differ if a new leader takes a batch while the one before it, which it already has, is being sent
again: here the later batch waits until the earlier one has completed.
"""

from __future__ import annotations

from collections import defaultdict, deque

from logquake.client.producer.batch import ProducerBatch
from logquake.client.telling import Telling
from logquake.wire.topic_partition import TopicPartition


class Turns:
    """By ``telling``, without one at once."""

    def __init__(self, telling: Telling | None = None) -> None:
        self._telling = telling
        self._untold: defaultdict[TopicPartition, deque[ProducerBatch]] = defaultdict(deque)

    def begins(self, batch: ProducerBatch) -> None:
        """The last of its partition."""
        self._untold[batch.place].append(batch)

    def take_back(self, batch: ProducerBatch) -> None:
        """If it has begun: it was not to."""
        untold = self._untold[batch.place]
        if untold and untold[-1] is batch:
            untold.pop()

    def settled(self, place: TopicPartition) -> None:
        """Some batch of it has its fate: tell whoever need not wait for others any more."""
        untold = self._untold[place]
        while untold and untold[0].fate is not None:
            first = untold.popleft()
            untold.extendleft(reversed(first.parts))
            if self._telling is None:
                first.tell()
            else:
                self._telling.add(first.tell)
