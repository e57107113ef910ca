"""Each record once, and in order, whatever is sent again (KIP-98, KIP-360).

It is the half of TransactionManager that ids, epochs and sequences are about. A batch keeps its
sequence from its first sending on: a broker knows it by that. Where a sequence can never be told of
(its batch was given up, or the broker has forgotten), the producer takes the next epoch, and what
that partition has in flight begins at 0 again.
"""

from __future__ import annotations

from typing import Final

from logquake.client.errors import BrokerError, ClientError
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.identity import (
    LAST_EPOCH,
    AskingForId,
    Broken,
    Identified,
    Identity,
    NoId,
    Standing,
)
from logquake.client.producer.sequences import SequenceBook
from logquake.client.producer.sequencing import Sequencing
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


class Idempotence(Sequencing):
    """Satisfies `Numbering`. Some errors are mended by the next epoch, which is asked for here."""

    hurries = False

    def __init__(self) -> None:
        super().__init__(SequenceBook())
        self.standing: Standing = NoId()
        self._need_epoch: dict[TopicPartition, None] = {}

    @property
    def _identity(self) -> Identity | None:
        return self.standing.identity if isinstance(self.standing, Identified) else None

    # What became of it

    def failed(self, batch: ProducerBatch, error: ClientError, *, leaves_gap: bool) -> None:
        code = error.code if isinstance(error, BrokerError) else None
        if code in _FATAL:
            self.broke(error)
        self._sequences.forget(batch)
        if isinstance(self.standing, Broken):
            return
        if code == ErrorCode.UNKNOWN_PRODUCER_ID:
            self._sequences.forget_partition(batch.place)
        elif leaves_gap or code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
            self._need_epoch[batch.place] = None

    def _retry_forgotten(self, batch: ProducerBatch, log_start_offset: int) -> bool:
        """What retention took, it took with what the broker knew of this producer."""
        if log_start_offset != UNKNOWN_OFFSET and not batch.was_restamped:
            self._need_epoch[batch.place] = None
        return True

    def _retry_out_of_order(self, batch: ProducerBatch) -> bool:
        """Without bumping, where a batch before it may still come."""
        unresolved = self._sequences.unresolved(batch.place)
        if unresolved is None:
            is_gap = not batch.was_restamped and self._sequences.is_next(batch)
        else:
            is_gap = batch.stamp.base_sequence == unresolved
        if is_gap:
            self._need_epoch[batch.place] = None
        return True

    # Ids and epochs

    def mend(self) -> None:
        """What can be told of batches that were given up is told; the next epoch where it must."""
        for place in self._sequences.take_gaps():
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
            self._sequences.begin_anew(place, identity)
        self._need_epoch.clear()

    def asked(self) -> None:
        self.standing = AskingForId()

    def identified(self, identity: Identity) -> None:
        if not isinstance(self.standing, Broken):
            self.standing = Identified(identity)
            self._begin_anew(identity)

    def not_identified(self, not_before_ms: int) -> None:
        """It is worth asking again."""
        if not isinstance(self.standing, Broken):
            self.standing = NoId(not_before_ms)

    def broke(self, error: ClientError) -> None:
        """Whatever is answered after that, of an id that was asked for before."""
        if not isinstance(self.standing, Broken):
            self.standing = Broken(error)
