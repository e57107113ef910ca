"""What a request makes of a transactional id: an error, or what is to be written before the answer
(the decisions of Kafka's TransactionCoordinator, its errors in its order).

Nothing is changed here but by fence(): a producer is refused from the moment on at which it is
decided, not from when the record is committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.node.coordinators.transactions import transitions
from logquake.node.coordinators.transactions.metadata import (
    Producer,
    Transaction,
    TransactionMetadata,
)
from logquake.node.coordinators.transactions.states import (
    Complete,
    CompleteAbort,
    CompleteCommit,
    Empty,
    Ongoing,
    Partitions,
    PrepareAbort,
    PrepareCommit,
    Prepared,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_PRODUCER_EPOCH
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Fence:
    """A transaction is going on: its producer is fenced and it is aborted; then who asked tries
    again. The epoch of the fence is nobody's.
    """


@dataclass(frozen=True, slots=True)
class NeedsProducerId:
    """The epochs of the producer id are used up: ask again with one to replace it."""


@dataclass(frozen=True, slots=True)
class Initialization:
    """An InitProducerId. ``expected`` is who asks, if it is a producer that goes on (KIP-360)."""

    timeout_ms: int
    expected: Producer | None = None


def init_producer_id(
    transaction: Transaction, asked: Initialization, spare_id: int | None, now_ms: int
) -> ErrorCode | NeedsProducerId | Fence | TransactionMetadata:
    if transaction.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    metadata, expected = transaction.metadata, asked.expected
    if expected is not None and not _may_go_on(metadata, expected):
        return ErrorCode.PRODUCER_FENCED
    match metadata.state:
        case PrepareCommit() | PrepareAbort():
            return ErrorCode.CONCURRENT_TRANSACTIONS
        case Ongoing():
            return Fence()
        case Empty() | CompleteCommit() | CompleteAbort():
            return _next_producer(metadata, asked, spare_id, now_ms)
        case _:
            return ErrorCode.UNKNOWN_SERVER_ERROR


def _may_go_on(metadata: TransactionMetadata, expected: Producer) -> bool:
    """Whether the producer id is the present one, or the one before it that ran out of epochs:
    then the answer that told of the present one was lost.
    """
    return (
        metadata.producer.epoch == NO_PRODUCER_EPOCH
        or expected.id == metadata.producer.id
        or (expected.id == metadata.last.id and expected.is_exhausted)
    )


def _next_producer(
    metadata: TransactionMetadata, asked: Initialization, spare_id: int | None, now_ms: int
) -> ErrorCode | NeedsProducerId | TransactionMetadata:
    producer, expected = metadata.producer, asked.expected
    if producer.is_exhausted and (expected is None or expected.epoch == producer.epoch):
        if spare_id is None:
            return NeedsProducerId()
        return transitions.rotate_producer_id(
            metadata, spare_id, asked.timeout_ms, now_ms, goes_on=expected is not None
        )
    expected_epoch = None if expected is None else expected.epoch
    return transitions.increment_producer_epoch(metadata, expected_epoch, asked.timeout_ms, now_ms)


def add_partitions(
    transaction: Transaction, producer: Producer, partitions: Partitions, now_ms: int
) -> ErrorCode | TransactionMetadata:
    """NONE when the partitions are part of it already."""
    if error := _stranger(transaction, producer):
        return error
    state = transaction.state
    if transaction.pending is not None or isinstance(state, Prepared):
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if isinstance(state, Ongoing) and partitions <= state.partitions:
        return ErrorCode.NONE
    if producer.epoch < 0 or not transitions.may_follow(state, Ongoing):
        # An id whose first record failed, named by someone who cannot have been told of it.
        return ErrorCode.UNKNOWN_SERVER_ERROR
    return transitions.add_partitions(transaction.metadata, partitions, now_ms)


def verify_partitions(
    transaction: Transaction, producer: Producer, partitions: Partitions
) -> ErrorCode | Mapping[TopicPartition, ErrorCode]:
    """Whether each is part of the transaction that is going on (KIP-890). What is pending does not
    count: the leader that asks looks again when it appends.
    """
    if error := _stranger(transaction, producer):
        return error
    if isinstance(transaction.state, Prepared):
        return ErrorCode.CONCURRENT_TRANSACTIONS
    known = transaction.state.partitions
    return {
        each: ErrorCode.NONE if each in known else ErrorCode.TRANSACTION_ABORTABLE
        for each in partitions
    }


def end(
    transaction: Transaction, producer: Producer, *, committed: bool, now_ms: int
) -> ErrorCode | TransactionMetadata:
    """NONE when it ended so already."""
    if error := _stranger(transaction, producer):
        return error
    if transaction.pending is not None:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    match transaction.state:
        case Ongoing():
            return transitions.decide(transaction.metadata, committed=committed, now_ms=now_ms)
        case CompleteCommit() | CompleteAbort() as state:
            agrees = isinstance(state, CompleteCommit) == committed
            return ErrorCode.NONE if agrees else ErrorCode.INVALID_TXN_STATE
        case PrepareCommit() | PrepareAbort() as state:
            agrees = isinstance(state, PrepareCommit) == committed
            return ErrorCode.CONCURRENT_TRANSACTIONS if agrees else ErrorCode.INVALID_TXN_STATE
        case Empty():
            return ErrorCode.INVALID_TXN_STATE
        case _:
            return ErrorCode.UNKNOWN_SERVER_ERROR


def fence(transaction: Transaction, now_ms: int) -> TransactionMetadata:
    """Raise the epoch of the transaction that is going on; its abort is to be written."""
    transaction.fence()
    return transitions.decide(transaction.metadata, committed=False, now_ms=now_ms)


def is_timed_out(transaction: Transaction, now_ms: int) -> bool:
    state = transaction.state
    return (
        isinstance(state, Ongoing)
        and transaction.pending is None
        and state.started_ms + transaction.metadata.timeout_ms < now_ms
    )


def is_expired(transaction: Transaction, expiration_ms: int, now_ms: int) -> bool:
    """Nothing goes on, and nothing has for so long: the id is forgotten."""
    return (
        isinstance(transaction.state, Empty | Complete)
        and transaction.pending is None
        and transaction.metadata.updated_ms <= now_ms - expiration_ms
    )


def _stranger(transaction: Transaction, producer: Producer) -> ErrorCode:
    """NONE for the present producer."""
    if producer.id != transaction.producer.id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if producer.epoch != transaction.producer.epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE
