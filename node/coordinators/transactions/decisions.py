"""From what is decided to what is done: into the log, then to the partitions, then into the log
that it is complete (TransactionStateManager.appendTransactionToLog and the callbacks around it).
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.coordinators.append_errors import OF_TRANSACTIONS, told_as
from logquake.node.coordinators.term import Term
from logquake.node.coordinators.transactions import rules, transitions
from logquake.node.coordinators.transactions.log_records import encode_metadata
from logquake.node.coordinators.transactions.marker_requests import Decision
from logquake.node.coordinators.transactions.marker_sender import MarkerSender
from logquake.node.coordinators.transactions.metadata import Transaction, TransactionMetadata
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import ACKS_ALL

TransactionTerm = Term[PartitionState]
Done = Callable[[ErrorCode], None]

_RETRY_MS = 20  # of a record that the followers did not copy in time; Kafka's sender never rests


class Decisions:
    """done gets NONE once the record is committed and the term still lasts, else what the client
    is told.
    """

    def __init__(self, scheduler: Scheduler, markers: MarkerSender) -> None:
        self._scheduler = scheduler
        self._markers = markers

    def write(
        self,
        term: TransactionTerm,
        transaction: Transaction,
        target: TransactionMetadata,
        done: Done,
    ) -> None:
        """Nothing else may be written of the transaction until done is called."""
        transaction.begin(target)

        def written(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                transaction.complete()
            else:
                transaction.give_up()
            done(error)

        self._append(term, transaction, target, written)

    def decide(
        self,
        term: TransactionTerm,
        transaction: Transaction,
        target: TransactionMetadata,
        done: Done,
    ) -> None:
        """Write the end of a transaction; once it is committed the client is told, and the
        partitions get their markers.
        """

        def written(error: ErrorCode) -> None:
            done(error)
            if error is ErrorCode.NONE:
                self.carry_out(term, transaction)

        self.write(term, transaction, target, written)

    def fence(self, term: TransactionTerm, transaction: Transaction, done: Done) -> None:
        """Abort the transaction that is going on, and refuse its producer from now on."""
        target = rules.fence(transaction, self._scheduler.wall_ms())

        def written(error: ErrorCode) -> None:
            if error is not ErrorCode.NONE:
                transaction.fence_failed = True
            done(error)

        self.decide(term, transaction, target, written)

    def carry_out(self, term: TransactionTerm, transaction: Transaction) -> None:
        """Have the markers of a prepared transaction written, then that it is complete."""
        target = transitions.finish(transaction.metadata, self._scheduler.wall_ms())
        transaction.begin(target)
        transaction.fence_failed = False
        decision = Decision(term, transaction, lambda: self._complete(term, transaction, target))
        self._markers.send(decision)

    def _complete(
        self, term: TransactionTerm, transaction: Transaction, target: TransactionMetadata
    ) -> None:
        """Any other error than a passing one means that another term carries it out."""

        def written(error: ErrorCode) -> None:
            if error is ErrorCode.NONE:
                transaction.complete()
            elif term.is_current:
                self._scheduler.call_later(
                    _RETRY_MS, lambda: self._complete(term, transaction, target)
                )

        self._append(term, transaction, target, written)

    def _append(
        self,
        term: TransactionTerm,
        transaction: Transaction,
        target: TransactionMetadata,
        done: Done,
    ) -> None:
        def appended(error: ErrorCode, _offset: int) -> None:
            if error is ErrorCode.NONE and not term.is_current:
                # Committed, but another coordinator goes on from it, and may be at it already.
                error = ErrorCode.NOT_COORDINATOR
            done(told_as(error, OF_TRANSACTIONS))

        batch = encode_metadata(transaction.transactional_id, target, self._scheduler.wall_ms())
        term.append(batch, ACKS_ALL, target.timeout_ms, appended)
