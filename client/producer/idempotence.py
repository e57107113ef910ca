"""Each record once, and in order, whatever is sent again (KIP-98, KIP-360).

It is the half of TransactionManager that ids, epochs and sequences are about. A batch keeps its
sequence from its first sending on: a broker knows it by that. Where a sequence can never be told of
(its batch was given up, or the broker has forgotten), the producer takes the next epoch, and what
that partition has in flight begins at 0 again.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from logquake.client.errors import BrokerError, ClientError
from logquake.client.producer.batch import ProducerBatch, sequence_after
from logquake.client.producer.identity import (
    LAST_EPOCH,
    AskingForId,
    Broken,
    Identified,
    Identity,
    NoId,
    Standing,
)
from logquake.client.producer.queues import Queue, insert_by_sequence
from logquake.client.producer.sequences import PartitionSequences
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# After these no later batch can be written either.
_FATAL: Final = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)


class Idempotence:
    """Satisfies `Numbering`."""

    def __init__(self) -> None:
        self.standing: Standing = NoId()
        self._partitions: defaultdict[TopicPartition, PartitionSequences] = defaultdict(
            PartitionSequences
        )
        # Batches were given up that had been sent; up to that sequence, exclusive.
        self._unresolved: dict[TopicPartition, int] = {}
        self._need_epoch: dict[TopicPartition, None] = {}

    # What may be sent next

    def holds_back(self, batch: ProducerBatch) -> bool:
        if not isinstance(self.standing, Identified):
            return True
        sequences = self._partitions[batch.place]
        if batch.has_sequence:
            # One that is tried again waits until all before it are done.
            first = sequences.in_flight[0] if sequences.in_flight else batch
            return first.stamp.base_sequence != batch.stamp.base_sequence
        is_of_older_epoch = sequences.identity != self.standing.identity
        # Sequence 0 of the next epoch could be written before what is in flight.
        return bool(is_of_older_epoch and sequences.in_flight) or batch.place in self._unresolved

    def number(self, batch: ProducerBatch) -> None:
        if batch.has_sequence or not isinstance(self.standing, Identified):
            return
        identity = self.standing.identity
        sequences = self._partitions[batch.place]
        if sequences.identity != identity and not sequences.in_flight:
            sequences.begin_anew(identity)
        sequences.number(batch, identity)

    def put_back(self, queue: Queue, batch: ProducerBatch) -> None:
        self._partitions[batch.place].track(batch)
        insert_by_sequence(queue, batch)

    # What became of it

    def written(self, batch: ProducerBatch) -> None:
        self._partitions[batch.place].acked(batch)

    def was_split(self, batch: ProducerBatch) -> None:
        self._partitions[batch.place].forget(batch)

    def failed(self, batch: ProducerBatch, error: ClientError, *, leaves_gap: bool) -> None:
        code = error.code if isinstance(error, BrokerError) else None
        if code in _FATAL:
            self.standing = Broken(error)
        self._partitions[batch.place].forget(batch)
        if isinstance(self.standing, Broken):
            return
        if code == ErrorCode.UNKNOWN_PRODUCER_ID:
            # The broker knows nothing of this producer, and takes a 0.
            del self._partitions[batch.place]
            self._unresolved.pop(batch.place, None)
        elif leaves_gap or code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            self._need_epoch[batch.place] = None

    def given_up(self, batch: ProducerBatch) -> None:
        """Nothing new follows until all is done that is in flight, and it is known."""
        after = sequence_after(batch.last_sequence, 1)
        self._unresolved[batch.place] = max(self._unresolved.get(batch.place, after), after)

    def may_retry(self, batch: ProducerBatch, code: ErrorCode, log_start_offset: int) -> bool:
        """Some errors are mended by the next epoch, which is asked for here."""
        if code == ErrorCode.UNKNOWN_PRODUCER_ID:
            return self._retry_forgotten(batch, log_start_offset)
        if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            return self._retry_out_of_order(batch)
        return code.retriable

    def _retry_forgotten(self, batch: ProducerBatch, log_start_offset: int) -> bool:
        """What retention took, it took with what the broker knew of this producer."""
        if log_start_offset != UNKNOWN_OFFSET and not batch.was_restamped:
            self._need_epoch[batch.place] = None
        return True

    def _retry_out_of_order(self, batch: ProducerBatch) -> bool:
        """Without bumping, where a batch before it may still come."""
        sequence = batch.stamp.base_sequence
        unresolved = self._unresolved.get(batch.place)
        if unresolved is None:
            is_gap = not batch.was_restamped and self._partitions[batch.place].is_next(sequence)
        else:
            is_gap = sequence == unresolved
        if is_gap:
            self._need_epoch[batch.place] = None
        return True

    # Ids and epochs

    def mend(self) -> None:
        """What can be told of batches that were given up is told; the next epoch where it must."""
        for place, _ in list(self._unresolved.items()):
            sequences = self._partitions[place]
            if not sequences.in_flight:
                del self._unresolved[place]
                if not sequences.is_next(sequences.next):
                    self._need_epoch[place] = None
        if self._need_epoch and isinstance(self.standing, Identified):
            self._bump(self.standing.identity)

    def _bump(self, identity: Identity) -> None:
        """KIP-360: by itself; no broker has to be asked, until the epochs are used up."""
        if identity.epoch == LAST_EPOCH:
            self.standing = NoId()
            return
        following = identity._replace(epoch=identity.epoch + 1)
        self.standing = Identified(following)
        self._begin_anew(following)

    def _begin_anew(self, identity: Identity) -> None:
        for place in self._need_epoch:
            self._partitions[place].begin_anew(identity)
            self._unresolved.pop(place, None)
        self._need_epoch.clear()

    def asked(self) -> None:
        self.standing = AskingForId()

    def identified(self, identity: Identity) -> None:
        self.standing = Identified(identity)
        self._begin_anew(identity)

    def not_identified(self, not_before_ms: int) -> None:
        """It is worth asking again."""
        self.standing = NoId(not_before_ms)

    def broke(self, error: ClientError) -> None:
        self.standing = Broken(error)
