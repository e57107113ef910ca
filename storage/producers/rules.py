"""Which batches of a producer a leader refuses (Kafka's ProducerAppendInfo; KIP-98, KIP-360).

A replica does not ask: what its leader took, it takes. As in Kafka 3.9 an unknown producer id may
begin with any sequence, and UNKNOWN_PRODUCER_ID is never answered. A transaction begins only with
the guard of its verification (KIP-890; verification.py).
"""

from __future__ import annotations

from logquake.storage.producers.entry import MAX_SEQUENCE, BatchMetadata, ProducerEntry
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import BatchHeader
from logquake.wire.sentinels import NO_PRODUCER_EPOCH


def find_duplicate(entry: ProducerEntry, header: BatchHeader) -> BatchMetadata | None:
    """The batch, of the latest that are remembered, that this one repeats."""
    if header.producer_epoch != entry.epoch:
        return None
    last_sequence = header.last_sequence
    for batch in entry.batches:
        if batch.last_sequence == last_sequence and batch.first_sequence == header.base_sequence:
            return batch
    return None


def check_verified(
    entry: ProducerEntry | None,
    header: BatchHeader,
    under_way: VerificationGuard | None,
    guard: VerificationGuard | None,
) -> None:
    """A transactional batch: its transaction is open here, or may be opened with this guard.

    Raises RecordError INVALID_TXN_STATE.
    """
    is_open = entry is not None and entry.in_transaction
    if not is_open and (guard is None or guard is not under_way):
        raise RecordError(
            ErrorCode.INVALID_TXN_STATE,
            f"producer {header.producer_id} is in no transaction that its coordinator vouched for",
        )


def check_produced(
    entry: ProducerEntry, header: BatchHeader, under_way: VerificationGuard | None
) -> None:
    """A client's batch that repeats none: its epoch, its sequence and its transaction.

    under_way: the verification of its producer. Raises RecordError INVALID_PRODUCER_EPOCH,
    OUT_OF_ORDER_SEQUENCE_NUMBER, INVALID_TXN_STATE.
    """
    _check_epoch(entry, header)
    if under_way is not None and header.base_sequence > under_way.lowest_sequence:
        raise _out_of_order(header, f"{under_way.lowest_sequence} is being verified")
    _check_sequence(entry, header)
    _check_transaction(entry, header)


def check_internal(entry: ProducerEntry, header: BatchHeader) -> None:
    """A batch that a coordinator writes in a producer's name; it has no sequence.

    Raises RecordError INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE.
    """
    _check_epoch(entry, header)
    _check_transaction(entry, header)


def check_end_marker(entry: ProducerEntry, header: BatchHeader, coordinator_epoch: int) -> None:
    """The marker that ends a transaction: neither producer nor coordinator may be outdated.

    Raises RecordError INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.
    """
    _check_epoch(entry, header)
    if coordinator_epoch < entry.coordinator_epoch:
        raise RecordError(
            ErrorCode.TRANSACTION_COORDINATOR_FENCED,
            f"producer {entry.producer_id} was last heard of from coordinator epoch "
            f"{entry.coordinator_epoch}, the marker has {coordinator_epoch}",
        )


def _check_epoch(entry: ProducerEntry, header: BatchHeader) -> None:
    if header.producer_epoch < entry.epoch:
        raise RecordError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"producer {entry.producer_id} is at epoch {entry.epoch}, "
            f"the batch has {header.producer_epoch}",
        )


def _check_sequence(entry: ProducerEntry, header: BatchHeader) -> None:
    if entry.epoch == NO_PRODUCER_EPOCH:
        return
    if header.producer_epoch != entry.epoch:
        if header.base_sequence != 0:
            raise _out_of_order(header, f"epoch {header.producer_epoch} begins with 0")
    elif not _follows(entry.last_sequence, header.base_sequence):
        raise _out_of_order(header, f"the last one is {entry.last_sequence}")


def _check_transaction(entry: ProducerEntry, header: BatchHeader) -> None:
    if entry.in_transaction and not header.is_transactional:
        raise RecordError(
            ErrorCode.INVALID_TXN_STATE,
            f"producer {entry.producer_id} is in a transaction since offset "
            f"{entry.current_txn_first_offset}, the batch is not transactional",
        )


def _follows(last_sequence: int, base_sequence: int) -> bool:
    return base_sequence == last_sequence + 1 or (
        base_sequence == 0 and last_sequence == MAX_SEQUENCE
    )


def _out_of_order(header: BatchHeader, why: str) -> RecordError:
    return RecordError(
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        f"producer {header.producer_id} sent sequence {header.base_sequence}, {why}",
    )
