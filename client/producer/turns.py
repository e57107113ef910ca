"""Runs the callbacks of a partition's records in the order of their sends.

KafkaProducer.send promises that, but Kafka's Sender completes each batch as it is done. The orders
differ if a new leader takes a batch while the one before it, which it already has, is being
retried: here the later batch waits until the earlier one has completed.
"""

from __future__ import annotations

from collections import defaultdict, deque

from logquake.client.producer.batch import ProducerBatch
from logquake.client.telling import Telling
from logquake.wire.topic_partition import TopicPartition


class Turns:
    """``telling`` runs the callbacks; without it they run at once."""

    def __init__(self, telling: Telling | None = None) -> None:
        self._telling = telling
        self._untold: defaultdict[TopicPartition, deque[ProducerBatch]] = defaultdict(deque)

    def begins(self, batch: ProducerBatch) -> None:
        """A new batch, the last of its partition."""
        self._untold[batch.place].append(batch)

    def take_back(self, batch: ProducerBatch) -> None:
        """Undo `begins`, if it was called."""
        untold = self._untold[batch.place]
        if untold and untold[-1] is batch:
            untold.pop()

    def settled(self, place: TopicPartition) -> None:
        """A batch of it is settled: run the callbacks of all that no longer wait for others."""
        untold = self._untold[place]
        while untold and untold[0].fate is not None:
            first = untold.popleft()
            untold.extendleft(reversed(first.parts))
            if self._telling is None:
                first.tell()
            else:
                self._telling.add(first.tell)
