"""What becomes of a transactional id's metadata (the prepare methods of Kafka's
TransactionMetadata): from what is committed to what is to be written.
"""

from __future__ import annotations

from dataclasses import replace

from logquake.node.coordinators.transactions.metadata import Producer, TransactionMetadata
from logquake.node.coordinators.transactions.states import (
    Complete,
    CompleteAbort,
    CompleteCommit,
    Dead,
    Empty,
    Ongoing,
    Partitions,
    PrepareAbort,
    PrepareCommit,
    TransactionState,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.sentinels import NO_PRODUCER_EPOCH

#: From which states each may follow.
_PREVIOUS: dict[type[TransactionState], tuple[type[TransactionState], ...]] = {
    Empty: (Empty, CompleteCommit, CompleteAbort),
    Ongoing: (Empty, Ongoing, CompleteCommit, CompleteAbort),
    PrepareCommit: (Ongoing,),
    PrepareAbort: (Ongoing,),
    CompleteCommit: (PrepareCommit,),
    CompleteAbort: (PrepareAbort,),
    Dead: (Empty, CompleteCommit, CompleteAbort),
}


def may_follow(before: TransactionState, after: type[TransactionState]) -> bool:
    return isinstance(before, _PREVIOUS.get(after, ()))


def increment_producer_epoch(
    metadata: TransactionMetadata, expected_epoch: int | None, timeout_ms: int, now_ms: int
) -> TransactionMetadata | ErrorCode:
    """The next epoch for who begins anew (expected_epoch None), or goes on after an error.

    PRODUCER_FENCED for a producer that has been replaced. Of one that asks a second time, since it
    missed the answer, the epoch stays what it is.
    """
    producer, last_epoch = metadata.producer, metadata.last.epoch
    if producer.is_exhausted:
        return ErrorCode.UNKNOWN_SERVER_ERROR  # what Kafka's own exception for it becomes
    bumped = Producer(producer.id, producer.epoch + 1)
    if expected_epoch is None:
        return _initialized(metadata, bumped, NO_PRODUCER_EPOCH, timeout_ms, now_ms)
    if producer.epoch in (NO_PRODUCER_EPOCH, expected_epoch):
        return _initialized(metadata, bumped, producer.epoch, timeout_ms, now_ms)
    if expected_epoch == last_epoch:
        return _initialized(metadata, producer, last_epoch, timeout_ms, now_ms)
    return ErrorCode.PRODUCER_FENCED


def rotate_producer_id(
    metadata: TransactionMetadata,
    producer_id: int,
    timeout_ms: int,
    now_ms: int,
    *,
    goes_on: bool,
) -> TransactionMetadata:
    """A new producer id, when the epochs of the old one are used up.

    ``goes_on``: the old producer asked for it itself, and may ask again.
    """
    last_epoch = metadata.producer.epoch if goes_on else NO_PRODUCER_EPOCH
    return _initialized(metadata, Producer(producer_id, 0), last_epoch, timeout_ms, now_ms)


def add_partitions(
    metadata: TransactionMetadata, partitions: Partitions, now_ms: int
) -> TransactionMetadata:
    state = metadata.state
    started_ms = state.started_ms if isinstance(state, Ongoing) else now_ms
    return _moved(metadata, Ongoing(state.partitions | partitions, started_ms), now_ms)


def decide(metadata: TransactionMetadata, *, committed: bool, now_ms: int) -> TransactionMetadata:
    """The end of the transaction that is going on; it is final once it is in the log."""
    prepared = PrepareCommit if committed else PrepareAbort
    state = metadata.state
    return _moved(metadata, prepared(state.partitions, state.started_ms), now_ms)


def finish(metadata: TransactionMetadata, now_ms: int) -> TransactionMetadata:
    """What is written once every partition has its marker."""
    state = metadata.state
    complete: type[Complete] = CompleteCommit if isinstance(state, PrepareCommit) else CompleteAbort
    return _moved(metadata, complete(state.started_ms), now_ms)


def _initialized(
    metadata: TransactionMetadata,
    producer: Producer,
    last_epoch: int,
    timeout_ms: int,
    now_ms: int,
) -> TransactionMetadata:
    moved = _moved(metadata, Empty(metadata.state.started_ms), now_ms)
    last = Producer(metadata.producer.id, last_epoch)
    return replace(moved, producer=producer, last=last, timeout_ms=timeout_ms)


def _moved(
    metadata: TransactionMetadata, state: TransactionState, now_ms: int
) -> TransactionMetadata:
    """Raises RuntimeError for what may not follow: that is our bug."""
    if not may_follow(metadata.state, type(state)):
        raise RuntimeError(f"{state} cannot follow {metadata.state}")
    return replace(metadata, state=state, updated_ms=now_ms)
