"""The sequences of a producer's partitions (TxnPartitionMap, TxnPartitionEntry)."""

from __future__ import annotations

from collections import defaultdict, deque

from logquake.client.producer.batch import ProducerBatch, Stamp
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.queues import Queue, insert_by_sequence
from logquake.client.producer.sequence_order import is_before, sequence_after
from logquake.wire.sentinels import NO_SEQUENCE, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_REMEMBERED = 5  # batches that a leader remembers of each producer (ProducerStateEntry)


class PartitionSequences:
    """``in_flight`` batches are sent or awaiting a retry, in the order of sequences."""

    def __init__(self) -> None:
        self.identity: Identity | None = None  # to which these sequences belong
        self.next = 0
        self.last_acked = NO_SEQUENCE
        self.last_acked_offset = UNKNOWN_OFFSET
        self.in_flight: list[ProducerBatch] = []
        self._numbered: deque[ProducerBatch] = deque()  # from the first in flight on

    def is_far_ahead(self) -> bool:
        """Whether as many were sent since the first in flight as a leader remembers.

        If one more were written, the leader would not recognize the first on a retry, which would
        fail as out of order for ever, though it may be written. A new leader may accept later
        batches while the first is still at an old one.
        """
        return len(self._numbered) >= _REMEMBERED

    def is_unknown(self) -> bool:
        """Whether the first batch is in flight, and no leader has acked one yet.

        A leader accepts any sequence from a producer it does not know (ProducerAppendInfo). If it
        rejected the first batch, say for a topic it does not know yet, and then accepted the
        second, the first would be out of order for ever.
        """
        return bool(self.in_flight) and self.last_acked == NO_SEQUENCE

    def number(self, batch: ProducerBatch, identity: Identity) -> None:
        batch.stamp = Stamp(*identity, self.next)
        self.next = sequence_after(self.next, batch.count)
        self._numbered.append(batch)
        self.track(batch)

    def track(self, batch: ProducerBatch) -> None:
        if batch not in self.in_flight:
            insert_by_sequence(self.in_flight, batch)
        if batch not in self._numbered:
            insert_by_sequence(self._numbered, batch)

    def was_split(self, batch: ProducerBatch) -> None:
        """Its parts are tracked instead; later batches that are done still count."""
        if batch in self.in_flight:
            self.in_flight.remove(batch)
        if batch in self._numbered:
            self._numbered.remove(batch)

    def forget(self, batch: ProducerBatch) -> None:
        """Also drops later batches that are done, and their bytes."""
        if batch in self.in_flight:
            self.in_flight.remove(batch)
        first = self.in_flight[0] if self.in_flight else None
        while self._numbered and self._numbered[0] is not first:
            self._numbered.popleft()

    def acked(self, batch: ProducerBatch, base_offset: int) -> None:
        self.forget(batch)
        if not self._has(batch):
            return
        if self.last_acked == NO_SEQUENCE or is_before(self.last_acked, batch.last_sequence):
            self.last_acked = batch.last_sequence
        if base_offset != UNKNOWN_OFFSET:
            last_offset = base_offset + batch.count - 1
            self.last_acked_offset = max(self.last_acked_offset, last_offset)

    def _has(self, batch: ProducerBatch) -> bool:
        """Whether the batch is of the current epoch."""
        return (batch.stamp.producer_id, batch.stamp.producer_epoch) == self.identity

    def is_next(self, sequence: int) -> bool:
        """All before it is acked."""
        return sequence == sequence_after(self.last_acked, 1)

    def begin_anew(self, identity: Identity) -> None:
        """Restart at 0, with the batches in flight first."""
        self.identity = identity
        self.next = 0
        self.last_acked = NO_SEQUENCE
        self._numbered = deque(self.in_flight)  # all that a leader can remember of this epoch
        for batch in self.in_flight:
            batch.restamp(Stamp(*identity, self.next))
            self.next = sequence_after(self.next, batch.count)

    def close_gap(self, failed: ProducerBatch) -> None:
        """Brokers rejected the batch for good: later sequences move down."""
        if not self._has(failed):
            return
        self.next = sequence_after(self.next, -failed.count)
        for batch in self.in_flight:
            if not is_before(batch.stamp.base_sequence, failed.stamp.base_sequence):
                moved = sequence_after(batch.stamp.base_sequence, -failed.count)
                batch.restamp(batch.stamp._replace(base_sequence=moved))


class SequenceBook:
    """The sequences of all partitions, and which of these gave up batches that had been sent."""

    def __init__(self) -> None:
        self.partitions: defaultdict[TopicPartition, PartitionSequences] = defaultdict(
            PartitionSequences
        )
        self._unresolved: dict[TopicPartition, int] = {}  # up to that sequence, exclusive

    # What may be sent next

    def holds_back(self, batch: ProducerBatch, identity: Identity) -> bool:
        sequences = self.partitions[batch.place]
        if batch.has_sequence:
            # A retry waits until all batches before it are done.
            first = sequences.in_flight[0] if sequences.in_flight else batch
            return first.stamp.base_sequence != batch.stamp.base_sequence
        # Sequence 0 of the next epoch could be written before the batches in flight.
        is_of_older_epoch = sequences.identity != identity and bool(sequences.in_flight)
        is_too_early = sequences.is_unknown() or sequences.is_far_ahead()
        return is_of_older_epoch or batch.place in self._unresolved or is_too_early

    def number(self, batch: ProducerBatch, identity: Identity) -> None:
        if batch.has_sequence:
            return
        sequences = self.partitions[batch.place]
        if sequences.identity != identity and not sequences.in_flight:
            sequences.begin_anew(identity)
        sequences.number(batch, identity)

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        self.partitions[batch.place].track(batch)
        insert_by_sequence(queue, batch)

    # What became of it

    def written(self, batch: ProducerBatch, base_offset: int) -> None:
        self.partitions[batch.place].acked(batch, base_offset)

    def forget(self, batch: ProducerBatch) -> None:
        """It is not in flight any more."""
        self.partitions[batch.place].forget(batch)

    def was_split(self, batch: ProducerBatch) -> None:
        self.partitions[batch.place].was_split(batch)

    def forget_partition(self, place: TopicPartition) -> None:
        """The broker does not know this producer, and expects sequence 0."""
        del self.partitions[place]
        self._unresolved.pop(place, None)

    def forget_all(self) -> None:
        self.partitions.clear()
        self._unresolved.clear()

    def is_done_before(self, place: TopicPartition, sequence: int) -> bool:
        """Whether no batch in flight has an earlier sequence."""
        in_flight = self.partitions[place].in_flight
        return not in_flight or not is_before(in_flight[0].stamp.base_sequence, sequence)

    def may_go_by(self, place: TopicPartition, identity: Identity) -> bool:
        """Whether its leader may have sequences of this identity."""
        return self.partitions[place].identity in (None, identity)

    def begin_anew(self, place: TopicPartition, identity: Identity) -> None:
        self.partitions[place].begin_anew(identity)
        self._unresolved.pop(place, None)

    def close_gap(self, failed: ProducerBatch) -> None:
        self.partitions[failed.place].close_gap(failed)

    def is_next(self, batch: ProducerBatch) -> bool:
        """All before it is acked."""
        return self.partitions[batch.place].is_next(batch.stamp.base_sequence)

    # Batches that were given up

    def given_up(self, batch: ProducerBatch) -> None:
        """No new batch follows until all in flight are done, and its outcome is clear."""
        self.forget(batch)
        after = sequence_after(batch.last_sequence, 1)
        known = self._unresolved.get(batch.place)
        if known is None or is_before(known, after):
            self._unresolved[batch.place] = after

    def unresolved(self, place: TopicPartition) -> int | None:
        """The sequence after the last one that was given up."""
        return self._unresolved.get(place)

    def take_gaps(self) -> list[TopicPartition]:
        """Partitions with nothing in flight, in which a batch that was given up is missing.

        In the others it was written, since later batches were.
        """
        gaps = []
        for place in list(self._unresolved):
            sequences = self.partitions[place]
            if not sequences.in_flight:
                del self._unresolved[place]
                if not sequences.is_next(sequences.next):
                    gaps.append(place)
        return gaps
