"""What may be sent, and with which sequence, inside transactions."""

from __future__ import annotations

from typing import Final

from logquake.client.errors import BrokerError, ClientError, ProducerFencedError
from logquake.client.producer.batch import ProducerBatch
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.idempotence.sequencing import Sequencing
from logquake.client.producer.transactions.course import Course
from logquake.client.producer.transactions.producer_states import (
    Broken,
    Completing,
    Remedy,
)
from logquake.client.producer.transactions.verdicts import remedy_of
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import UNKNOWN_OFFSET

# After these errors no later batch can be written either.
_FATAL: Final = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)


class UnacknowledgedError(ClientError):
    """Batches that had been sent were given up: it is unknown whether they were written."""


class TransactionalNumbering(Sequencing):
    """Satisfies `Numbering`: partitions wait until the transaction has them."""

    def __init__(self, course: Course) -> None:
        super().__init__(course.sequences)
        self.course = course

    @property
    def hurries(self) -> bool:
        return isinstance(self.course.state, Completing)

    @property
    def _identity(self) -> Identity | None:
        return self.course.identity

    def holds_back(self, batch: ProducerBatch) -> bool:
        if isinstance(self.course.state, Broken) or batch.place not in self.course.enlisted.added:
            return True
        return super().holds_back(batch)

    # The outcome of a batch

    def failed(self, batch: ProducerBatch, error: ClientError, *, leaves_gap: bool) -> None:
        self.record_failed(error)
        self._sequences.forget(batch)
        if isinstance(self.course.state, Broken):
            return
        if isinstance(error, BrokerError) and error.code == ErrorCode.UNKNOWN_PRODUCER_ID:
            self._sequences.forget_partition(batch.place)
        elif leaves_gap:
            self._sequences.close_gap(batch)

    def record_failed(self, error: ClientError) -> None:
        """A record of the transaction was not written (maybeTransitionToErrorState)."""
        code = error.code if isinstance(error, BrokerError) else None
        if code in _FATAL:
            self.course.break_down(error)
        elif code is ErrorCode.PRODUCER_FENCED:
            self.course.break_down(ProducerFencedError(str(error)))
        else:
            self.course.fail(error, self._remedy(code))

    def _remedy(self, code: ErrorCode | None) -> Remedy:
        """As in Kafka, the epoch is bumped after any failure, unless it is completing already."""
        if isinstance(self.course.state, Completing) or not self.course.can_take_epochs:
            return Remedy.ABORT
        told = None if code is None else remedy_of(code)
        return max(told or Remedy.ABORT, Remedy.NEXT_EPOCH)

    def _retry_forgotten(self, batch: ProducerBatch, log_start_offset: int) -> bool:
        """Retention deleted the records, and with them the broker's state of this producer."""
        if log_start_offset == UNKNOWN_OFFSET or batch.was_restamped:
            return True
        identity = self.course.identity
        last_acked = self._sequences.partitions[batch.place].last_acked_offset
        if identity is None or last_acked >= log_start_offset:
            return False
        self._sequences.begin_anew(batch.place, identity)
        return True

    def _retry_out_of_order(self, batch: ProducerBatch) -> bool:
        """Retry if an earlier batch may still arrive; otherwise this would be the next one."""
        if self._sequences.unresolved(batch.place) is not None:
            return False
        return batch.was_restamped or not self._sequences.is_next(batch)

    def mend(self) -> None:
        """Find gaps left by batches that were given up (maybeResolveSequences)."""
        for place in self._sequences.take_gaps():
            error = UnacknowledgedError(f"{place}: nobody knows whether what was sent is written")
            self.course.fail(error, Remedy.NEXT_EPOCH)
