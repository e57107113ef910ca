"""Bugs of the transaction coordinator."""

from __future__ import annotations

from logquake.node.coordinators.transactions import rules, transitions
from logquake.node.coordinators.transactions.decisions import Decisions, Done, TransactionTerm
from logquake.node.coordinators.transactions.marker_requests import Decision
from logquake.node.coordinators.transactions.marker_sender import MarkerSender
from logquake.node.coordinators.transactions.metadata import (
    Producer,
    Transaction,
    TransactionMetadata,
)
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.upkeep import Upkeep
from logquake.planted.bug import Replace
from logquake.wire.errors import ErrorCode


def send_markers_too_soon(replace: Replace) -> None:
    """The partitions hear of a decision that may never be committed."""
    decide = Decisions.decide

    def hasty(
        self: Decisions,
        term: TransactionTerm,
        transaction: Transaction,
        target: TransactionMetadata,
        done: Done,
    ) -> None:
        ahead = Transaction(transaction.transactional_id, target)
        self._markers.send(
            Decision(term, ahead, lambda: decide(self, term, transaction, target, done))
        )

    replace(Decisions, "decide", hasty)


def answer_ends_too_soon(replace: Replace) -> None:
    """The client is told of a decision that may never be committed."""
    decide = Decisions.decide

    def hasty(
        self: Decisions,
        term: TransactionTerm,
        transaction: Transaction,
        target: TransactionMetadata,
        done: Done,
    ) -> None:
        done(ErrorCode.NONE)
        decide(self, term, transaction, target, lambda _error: None)

    replace(Decisions, "decide", hasty)


def keep_the_epoch(replace: Replace) -> None:
    """A successor gets the epoch of the producer that it replaces."""
    increment = transitions.increment_producer_epoch

    def keep(
        metadata: TransactionMetadata, expected: int | None, timeout_ms: int, now_ms: int
    ) -> TransactionMetadata | ErrorCode:
        known = metadata.producer.epoch >= 0
        return increment(metadata, metadata.last.epoch if known else expected, timeout_ms, now_ms)

    replace(transitions, "increment_producer_epoch", keep)


def take_ends_of_any_epoch(replace: Replace) -> None:
    """Who was replaced may end the transaction of who replaced it."""

    def same_id(transaction: Transaction, producer: Producer) -> ErrorCode:
        known = producer.id == transaction.producer.id
        return ErrorCode.NONE if known else ErrorCode.INVALID_PRODUCER_ID_MAPPING

    replace(rules, "_stranger", same_id)


def complete_nothing(replace: Replace) -> None:
    """A new coordinator leaves what the last one decided where it is."""

    def begin(upkeep: Upkeep, term: TransactionTerm) -> None:
        upkeep._terms[term.index] = term
        upkeep.wake()

    replace(Upkeep, "term_began", begin)


def time_nothing_out(replace: Replace) -> None:
    """A transaction whose producer is gone stays open."""
    replace(rules, "is_timed_out", lambda _transaction, _now_ms: False)


def send_markers_once(replace: Replace) -> None:
    """A marker that did not arrive is not sent again."""
    replace(MarkerSender, "_retry_later", lambda _self, _decision, _partitions: None)


def keep_what_is_pending(replace: Replace) -> None:
    """A transition whose record could not be written is waited for, for ever."""
    replace(Transaction, "give_up", lambda _self: None)


def load_the_first_record(replace: Replace) -> None:
    """A load keeps what it read first of a transactional id."""
    add = PartitionState.add

    def keep(state: PartitionState, transaction: Transaction) -> None:
        if state.get(transaction.transactional_id) is None:
            add(state, transaction)

    replace(PartitionState, "add", keep)
