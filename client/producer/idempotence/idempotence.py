"""Each record exactly once, and in order, despite retries (KIP-98, KIP-360).

This is the half of TransactionManager about ids, epochs and sequences. A batch keeps the sequence
of its first attempt, by which the broker recognizes it. If the outcome of a sequence can never be
known (its batch was given up, or the broker has forgotten it), the producer bumps its epoch, and
the partition's batches in flight start again at 0. It does so once everything before the gap is
done, since those batches may already be written under their present sequences.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from logquake.client.errors import BrokerError, ClientError
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.idempotence.identity import (
    LAST_EPOCH,
    AskingForId,
    Broken,
    Identified,
    Identity,
    NoId,
    Standing,
)
from logquake.client.producer.idempotence.sequences import SequenceBook
from logquake.client.producer.idempotence.sequencing import Sequencing
from logquake.client.producer.sequence_order import is_before
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# After these errors no later batch can be written either.
_FATAL: Final = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)


class Idempotence(Sequencing):
    """Satisfies `Numbering`. Bumps the epoch after errors that this repairs."""

    hurries = False

    def __init__(self) -> None:
        super().__init__(SequenceBook())
        self.standing: Standing = NoId()
        self._gaps: dict[TopicPartition, int] = {}  # the first sequence that will never come

    @property
    def _identity(self) -> Identity | None:
        return self.standing.identity if isinstance(self.standing, Identified) else None

    def holds_back(self, batch: ProducerBatch) -> bool:
        """New batches behind a gap would be out of order."""
        is_behind_gap = batch.place in self._gaps and not batch.has_sequence
        return is_behind_gap or super().holds_back(batch)

    # The outcome of a batch

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
            self._leaves_gap(batch)

    def _retry_forgotten(self, batch: ProducerBatch, log_start_offset: int) -> bool:
        """Retention deleted the records, and with them the broker's state of this producer."""
        if log_start_offset != UNKNOWN_OFFSET and not batch.was_restamped:
            self._leaves_gap(batch)
        return True

    def _retry_out_of_order(self, batch: ProducerBatch) -> bool:
        """Without a new epoch if an earlier batch may still arrive."""
        unresolved = self._sequences.unresolved(batch.place)
        if unresolved is None:
            is_gap = not batch.was_restamped and self._sequences.is_next(batch)
        else:
            is_gap = batch.stamp.base_sequence == unresolved
        if is_gap:
            self._leaves_gap(batch)
        return True

    def _leaves_gap(self, batch: ProducerBatch) -> None:
        self._gap_at(batch.place, batch.stamp.base_sequence)

    def _gap_at(self, place: TopicPartition, sequence: int) -> None:
        known = self._gaps.get(place)
        if known is None or is_before(sequence, known):
            self._gaps[place] = sequence

    # Ids and epochs

    def mend(self) -> None:
        """Find gaps left by batches that were given up, and bump the epoch if one requires it.

        Batches in flight before a gap are waited for: they may already be written, and would be
        written again if they started anew.
        """
        for place in self._sequences.take_gaps():
            self._gap_at(place, self._sequences.partitions[place].next)
        ready = [
            place for place, gap in self._gaps.items() if self._sequences.is_done_before(place, gap)
        ]
        identity = self._identity
        if identity and any(self._sequences.may_go_by(place, identity) for place in ready):
            self._bump(identity)
        self._begin_anew(ready)

    def _bump(self, identity: Identity) -> None:
        """KIP-360: the producer does this itself; only after the last epoch it needs a new id."""
        is_last = identity.epoch == LAST_EPOCH
        following = identity._replace(epoch=identity.epoch + 1)
        self.standing = NoId() if is_last else Identified(following)

    def _begin_anew(self, places: Iterable[TopicPartition]) -> None:
        identity = self._identity
        if identity is not None:
            for place in places:
                self._sequences.begin_anew(place, identity)
                del self._gaps[place]

    def asked(self) -> None:
        self.standing = AskingForId()

    def identified(self, identity: Identity) -> None:
        if not isinstance(self.standing, Broken):
            self.standing = Identified(identity)
            self.mend()

    def not_identified(self, not_before_ms: int) -> None:
        """The request failed, and may be repeated."""
        if not isinstance(self.standing, Broken):
            self.standing = NoId(not_before_ms)

    def broke(self, error: ClientError) -> None:
        """Broken for good, even if an id that was requested before arrives later."""
        if not isinstance(self.standing, Broken):
            self.standing = Broken(error)
