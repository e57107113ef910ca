"""Whose turn it is to be told: of a partition the records in the order of their sends.

KafkaProducer.send promises that of callbacks, and Kafka's Sender tells each batch as it is done.
That is another order where a new leader takes a batch while the one before it, which it has
already, is being sent again: the later one waits here for the earlier one to be told.
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
