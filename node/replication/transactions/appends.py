"""Appending transactional batches: those that open a transaction are verified first.

Follows ReplicaManager.handleProduceAppend (KIP-890): a request waits as a whole, and other requests
do not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from logquake.node.replication.appends import Appends
from logquake.node.replication.purgatories.delayed_produce import Done
from logquake.node.replication.transactions.add_partitions_to_txn import TransactionalProducer
from logquake.node.replication.transactions.verification import (
    TransactionVerification,
    Verdicts,
    guarded,
)
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.storage.producers.verification import VerificationGuard
from logquake.wire.errors import ErrorCode
from logquake.wire.records import BatchHeader
from logquake.wire.topic_partition import TopicPartition

# The coordinator could not tell. Producers of before KIP-890 know that NOT_ENOUGH_REPLICAS is to be
# tried again, and that it asks for no new metadata.
_UNDECIDED = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


class TransactionalAppends:
    """``max_held_bytes``: records of requests that wait; what comes beyond is refused for now."""

    def __init__(
        self, appends: Appends, verification: TransactionVerification, max_held_bytes: int
    ) -> None:
        self._appends = appends
        self._verification = verification
        self._max_held_bytes = max_held_bytes
        self._held_bytes = 0

    def add(
        self,
        producer: TransactionalProducer,
        entries: Sequence[ProduceEntry],
        acks: int,
        timeout_ms: int,
        done: Done,
    ) -> bool | None:
        """Append as Appends.add does once all is verified; None while a coordinator is asked.

        The records are copied then: they are a receive buffer's, for this pass only.
        """
        verdicts = self._verification.begin(producer, _sequences(entries))
        if not guarded(verdicts):
            return self._append(entries, verdicts, acks, timeout_ms, done)
        if self._held_bytes >= self._max_held_bytes:
            full = dict.fromkeys(guarded(verdicts), ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return self._append(entries, {**verdicts, **full}, acks, timeout_ms, done)
        held = [replace(each, records=memoryview(bytearray(each.records))) for each in entries]
        size = sum(len(each.records) for each in held)
        self._held_bytes += size

        def verified(verdicts: Verdicts) -> None:
            self._held_bytes -= size
            self._append(held, verdicts, acks, timeout_ms, done)

        self._verification.ask(producer, verdicts, verified)
        return None

    def _append(
        self,
        entries: Sequence[ProduceEntry],
        verdicts: Verdicts,
        acks: int,
        timeout_ms: int,
        done: Done,
    ) -> bool:
        refused: list[ProduceResult] = []
        allowed: list[ProduceEntry] = []
        for entry in entries:
            verdict = verdicts.get(TopicPartition(entry.topic, entry.partition))
            if isinstance(verdict, ErrorCode):
                refused.append(_refusal(entry, verdict))
            elif isinstance(verdict, VerificationGuard):
                allowed.append(replace(entry, guard=verdict))
            else:
                allowed.append(entry)
        return self._appends.add(
            allowed, acks, timeout_ms, lambda results: done([*refused, *results])
        )


def transactional_header(entry: ProduceEntry) -> BatchHeader | None:
    """The header of its batch if that is part of a transaction."""
    header = entry.header
    return header if header and header.is_transactional and header.has_producer_id else None


def _sequences(entries: Sequence[ProduceEntry]) -> dict[TopicPartition, int]:
    """Of the transactional ones: a producer may send others in the same request."""
    return {
        TopicPartition(entry.topic, entry.partition): header.base_sequence
        for entry in entries
        if (header := transactional_header(entry)) is not None
    }


def _refusal(entry: ProduceEntry, error: ErrorCode) -> ProduceResult:
    message = None
    if error is ErrorCode.INVALID_TXN_STATE:
        message = "Partition was not added to the transaction"
    elif error in _UNDECIDED:
        message = (
            "Unable to verify the partition has been added to the transaction. "
            f"Underlying error: {error.name}"
        )
        error = ErrorCode.NOT_ENOUGH_REPLICAS
    return ProduceResult(entry.topic, entry.partition, error, error_message=message)
