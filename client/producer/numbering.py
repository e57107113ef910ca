"""Which batches may be sent next, by the sequences that they go by."""

from __future__ import annotations

from typing import Protocol

from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.queues import Queue


class Numbering(Protocol):
    """What the accumulator asks of idempotence."""

    def holds_back(self, batch: ProducerBatch, /) -> bool:
        """The first of its queue: it may not be sent now."""

    def number(self, batch: ProducerBatch, /) -> None:
        """It is about to be sent."""

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        """It is tried again, or stands in for a part of one that was too large."""


class Unnumbered:
    """Without idempotence: what failed goes first again, ahead of what was sent after it."""

    def holds_back(self, _batch: ProducerBatch) -> bool:
        return False

    def number(self, _batch: ProducerBatch) -> None:
        pass

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        queue.appendleft(batch)
