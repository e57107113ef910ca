"""The sequences of one partition (TxnPartitionEntry)."""

from __future__ import annotations

from logquake.client.producer.batch import ProducerBatch, Stamp, sequence_after
from logquake.client.producer.identity import Identity
from logquake.wire.sentinels import NO_SEQUENCE


class PartitionSequences:
    """``in_flight`` are sent and not done, or wait to be sent again, in the order of sequences."""

    def __init__(self) -> None:
        self.identity: Identity | None = None  # whose sequences these are
        self.next = 0
        self.last_acked = NO_SEQUENCE
        self.in_flight: list[ProducerBatch] = []

    def number(self, batch: ProducerBatch, identity: Identity) -> None:
        batch.stamp = Stamp(*identity, self.next)
        self.next = sequence_after(self.next, batch.count)
        self.track(batch)

    def track(self, batch: ProducerBatch) -> None:
        if batch not in self.in_flight:
            self.in_flight.append(batch)
            self.in_flight.sort(key=lambda one: one.stamp)

    def forget(self, batch: ProducerBatch) -> None:
        if batch in self.in_flight:
            self.in_flight.remove(batch)

    def acked(self, batch: ProducerBatch) -> None:
        self.last_acked = max(self.last_acked, batch.last_sequence)
        self.forget(batch)

    def is_next(self, sequence: int) -> bool:
        """All before it is acked."""
        return sequence - self.last_acked == 1

    def begin_anew(self, identity: Identity) -> None:
        """From 0, those in flight first."""
        self.identity = identity
        self.next = 0
        self.last_acked = NO_SEQUENCE
        for batch in self.in_flight:
            batch.restamp(Stamp(*identity, self.next))
            self.next = sequence_after(self.next, batch.count)
