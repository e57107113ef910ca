"""Transactions are whole, whatever fails; and bugs planted into their coordinator are found."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

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
from logquake.node.replication.partition.replica_log import ReplicaLog
from logquake.wire.errors import ErrorCode
from tests.sim.simulation import SimulationFailure
from tests.sim.transactions.simulation import TransactionalSimulation

SEEDS_A_TEST = 4
TESTS = 3
SEEDS_A_BUG = 100  # one run in eleven shows the rarest

Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, SEEDS_A_TEST * TESTS, SEEDS_A_TEST))
def test_transactions_are_whole_whatever_fails(first: int) -> None:
    committed = aborted = faults = 0
    for seed in range(first, first + SEEDS_A_TEST):
        simulation = TransactionalSimulation(seed)
        faults += simulation.run().counts["fault"]
        committed += simulation.ledger.committed
        aborted += simulation.ledger.aborted
    assert faults >= 3 * SEEDS_A_TEST
    assert committed >= 6 * SEEDS_A_TEST
    assert aborted >= 6 * SEEDS_A_TEST


def with_markers_before_the_decision(patch: pytest.MonkeyPatch) -> None:
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

    patch.setattr(Decisions, "decide", hasty)


def with_answers_before_the_decision(patch: pytest.MonkeyPatch) -> None:
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

    patch.setattr(Decisions, "decide", hasty)


def without_a_new_epoch(patch: pytest.MonkeyPatch) -> None:
    """A successor gets the epoch of the producer that it replaces."""
    increment = transitions.increment_producer_epoch

    def keep(
        metadata: TransactionMetadata, expected: int | None, timeout_ms: int, now_ms: int
    ) -> TransactionMetadata | ErrorCode:
        known = metadata.producer.epoch >= 0
        return increment(metadata, metadata.last.epoch if known else expected, timeout_ms, now_ms)

    patch.setattr(transitions, "increment_producer_epoch", keep)


def with_any_epochs_end(patch: pytest.MonkeyPatch) -> None:
    """Who was replaced may end the transaction of who replaced it."""

    def same_id(transaction: Transaction, producer: Producer) -> ErrorCode:
        known = producer.id == transaction.producer.id
        return ErrorCode.NONE if known else ErrorCode.INVALID_PRODUCER_ID_MAPPING

    patch.setattr(rules, "_stranger", same_id)


def without_completion(patch: pytest.MonkeyPatch) -> None:
    """A new coordinator leaves what the last one decided where it is."""

    def begin(upkeep: Upkeep, term: TransactionTerm) -> None:
        upkeep._terms[term.index] = term
        upkeep.wake()

    patch.setattr(Upkeep, "term_began", begin)


def without_time_outs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rules, "is_timed_out", lambda _transaction, _now_ms: False)


def without_repeating_markers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(MarkerSender, "_retry_later", lambda _self, _decision, _partitions: None)


def with_the_first_record_of_an_id(patch: pytest.MonkeyPatch) -> None:
    """A load keeps what it read first."""
    add = PartitionState.add

    def keep(state: PartitionState, transaction: Transaction) -> None:
        if state.get(transaction.transactional_id) is None:
            add(state, transaction)

    patch.setattr(PartitionState, "add", keep)


def with_reads_past_what_is_open(patch: pytest.MonkeyPatch) -> None:
    """The last stable offset is the high watermark, whatever is undecided."""
    mark = property(lambda replica: replica.high_watermark)
    patch.setattr(ReplicaLog, "last_stable_offset", mark)


def first_failure() -> str:
    for seed in range(SEEDS_A_BUG):
        try:
            TransactionalSimulation(seed).run()
        except SimulationFailure as failure:
            return str(failure)
    return "nothing was found"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "found_by"),
    [
        (with_markers_before_the_decision, "decided_first"),
        (with_answers_before_the_decision, "transactions|whole"),
        (without_a_new_epoch, "transactions"),
        (with_any_epochs_end, "transactions|whole"),
        (without_completion, "live"),
        (without_time_outs, "live"),
        (without_repeating_markers, "live"),
        (with_the_first_record_of_an_id, "transactions|whole|live"),
        (with_reads_past_what_is_open, "only_committed"),
    ],
)
def test_a_planted_bug_is_found(
    plant: Plant, found_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert re.search(f"^seed .*: ({found_by}) does not hold", first_failure())
