"""The transaction coordinator: what clients and brokers ask it (Kafka's TransactionCoordinator;
KIP-98, KIP-360, the first part of KIP-890).

Order is what makes it safe: a decision is committed in __transaction_state before anybody is told
and before its first marker is sent, and that it is complete is written when the last marker is.
Whatever dies in between, the next coordinator finds the decision and has the markers written again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.transactions import rules
from logquake.node.coordinators.transactions.decisions import Decisions, Done, TransactionTerm
from logquake.node.coordinators.transactions.listing import TransactionFilter
from logquake.node.coordinators.transactions.metadata import (
    Producer,
    Transaction,
    TransactionMetadata,
)
from logquake.node.coordinators.transactions.partition_state import PartitionState
from logquake.node.coordinators.transactions.rules import Fence, Initialization, NeedsProducerId
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.coordinators.transactions.states import Partitions
from logquake.node.coordinators.transactions.upkeep import Upkeep
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition

Initialized = Callable[[Producer | ErrorCode], None]


class _Known(NamedTuple):
    term: TransactionTerm
    transaction: Transaction


class TransactionCoordinator:
    """``next_producer_id`` calls back with an unused producer id, or None when the controller
    cannot be had in time.
    """

    def __init__(
        self,
        settings: TransactionSettings,
        partitions: CoordinatorPartitions[PartitionState],
        decisions: Decisions,
        upkeep: Upkeep,
        scheduler: Scheduler,
        next_producer_id: Callable[[Callable[[int | None], None]], None],
    ) -> None:
        self._settings = settings
        self._partitions = partitions
        self._decisions = decisions
        self._upkeep = upkeep
        self._scheduler = scheduler
        self._next_producer_id = next_producer_id

    # A producer begins

    def init_producer_id(
        self,
        transactional_id: str,
        asked: Initialization,
        done: Initialized,
        spare_id: int | None = None,
    ) -> None:
        """done gets the producer that the client is from now on. ``spare_id`` is a producer id
        that is not used yet, for when one turned out to be needed.
        """
        term = self._admit(transactional_id, asked)
        if isinstance(term, ErrorCode):
            done(term)
            return

        def ask_again(new_id: int | None) -> None:
            if new_id is None:
                done(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
            else:
                self.init_producer_id(transactional_id, asked, done, new_id)

        transaction = self._known_or_new(term, transactional_id, asked, spare_id)
        if transaction is None:
            self._next_producer_id(ask_again)
            return
        known, now_ms = _Known(term, transaction), self._scheduler.wall_ms()
        match rules.init_producer_id(transaction, asked, spare_id, now_ms):
            case NeedsProducerId():
                self._next_producer_id(ask_again)
            case Fence():
                self._fence(known, done)
            case TransactionMetadata() as target:
                self._initialize(known, target, done)
            case error:
                done(error)

    def _admit(self, transactional_id: str, asked: Initialization) -> TransactionTerm | ErrorCode:
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        if not 0 < asked.timeout_ms <= self._settings.max_timeout_ms:
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT
        return self._partitions.find(transactional_id)

    def _known_or_new(
        self,
        term: TransactionTerm,
        transactional_id: str,
        asked: Initialization,
        spare_id: int | None,
    ) -> Transaction | None:
        known = term.state.get(transactional_id)
        if known is not None or spare_id is None:
            return known
        now_ms = self._scheduler.wall_ms()
        transaction = Transaction.new(transactional_id, spare_id, asked.timeout_ms, now_ms)
        term.state.add(transaction)
        self._upkeep.wake()
        return transaction

    def _fence(self, known: _Known, done: Initialized) -> None:
        """The client asks again, and by then the transaction of its predecessor is aborted."""

        def fenced(error: ErrorCode) -> None:
            done(ErrorCode.CONCURRENT_TRANSACTIONS if error is ErrorCode.NONE else error)

        self._decisions.fence(*known, fenced)

    def _initialize(self, known: _Known, target: TransactionMetadata, done: Initialized) -> None:
        def written(error: ErrorCode) -> None:
            done(target.producer if error is ErrorCode.NONE else error)

        self._decisions.write(*known, target, written)

    # A transaction

    def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: Partitions, done: Done
    ) -> None:
        known = self._find(transactional_id)
        if isinstance(known, ErrorCode):
            done(known)
            return
        now_ms = self._scheduler.wall_ms()
        decided = rules.add_partitions(known.transaction, producer, partitions, now_ms)
        if isinstance(decided, ErrorCode):
            done(decided)
        else:
            self._upkeep.wake()
            self._decisions.write(*known, decided, done)

    def verify_partitions(
        self, transactional_id: str, producer: Producer, partitions: Partitions
    ) -> ErrorCode | Mapping[TopicPartition, ErrorCode]:
        """Of each whether it is part of the transaction, or an error for all of them."""
        known = self._find(transactional_id)
        if isinstance(known, ErrorCode):
            return known
        return rules.verify_partitions(known.transaction, producer, partitions)

    def end(
        self, transactional_id: str, producer: Producer, *, committed: bool, done: Done
    ) -> None:
        """done is called once the decision is committed; the markers are still to come."""
        known = self._find(transactional_id)
        if isinstance(known, ErrorCode):
            done(known)
            return
        now_ms = self._scheduler.wall_ms()
        decided = rules.end(known.transaction, producer, committed=committed, now_ms=now_ms)
        if isinstance(decided, ErrorCode):
            done(decided)
        else:
            self._decisions.decide(*known, decided, done)

    def _find(self, transactional_id: str) -> _Known | ErrorCode:
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        term = self._partitions.find(transactional_id)
        if isinstance(term, ErrorCode):
            return term
        transaction = term.state.get(transactional_id)
        if transaction is None:
            return ErrorCode.INVALID_PRODUCER_ID_MAPPING
        return _Known(term, transaction)

    # Those who look

    def describe(self, transactional_id: str) -> Transaction | ErrorCode:
        known = self._find(transactional_id)
        if known is ErrorCode.INVALID_PRODUCER_ID_MAPPING:
            return ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return known if isinstance(known, ErrorCode) else known.transaction

    def list_those(self, wanted: TransactionFilter) -> list[Transaction] | ErrorCode:
        """Of all that this broker coordinates; COORDINATOR_LOAD_IN_PROGRESS while it cannot know
        them all.
        """
        if self._partitions.is_loading:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        now_ms = self._scheduler.wall_ms()
        known = (transaction for term in self._partitions for transaction in term.state)
        return [transaction for transaction in known if wanted.admits(transaction, now_ms)]
