"""Transactions and their producers (KIP-664)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from logquake.client.admin import transactions
from logquake.client.admin.asking.by_broker import ByBroker
from logquake.client.admin.calls.calling import Calling
from logquake.client.admin.producers import (
    AbortTransaction,
    AbortTransactionSpec,
    DescribeProducers,
    ProducerState,
)
from logquake.client.admin.transactions import (
    NO_DURATION,
    DescribeTransactions,
    FenceProducers,
    ProducerIdAndEpoch,
    TransactionDescription,
    TransactionListing,
)
from logquake.client.pending import Promise
from logquake.wire.topic_partition import TopicPartition


class TransactionCalls(Calling):
    def describe_producers(
        self,
        partitions: Iterable[TopicPartition],
        *,
        broker_id: int | None = None,
        timeout_ms: int | None = None,
    ) -> dict[TopicPartition, Promise[tuple[ProducerState, ...]]]:
        """As known to the leaders, or to the given broker."""
        return self._keyed(DescribeProducers(broker_id), partitions, timeout_ms, broker_id)

    def describe_transactions(
        self, transactional_ids: Iterable[str], *, timeout_ms: int | None = None
    ) -> dict[str, Promise[TransactionDescription]]:
        return self._keyed(DescribeTransactions(), transactional_ids, timeout_ms)

    def list_transactions(
        self,
        *,
        states: Collection[str] = (),
        producer_ids: Collection[int] = (),
        duration_ms: int = NO_DURATION,
        timeout_ms: int | None = None,
    ) -> Promise[ByBroker[TransactionListing]]:
        """By broker; only in these states ("Ongoing"), of these producers, open for longer."""
        return self._one(
            "listTransactions",
            lambda results: transactions.list_transactions(
                states, producer_ids, duration_ms, results
            ),
            timeout_ms,
        )

    def abort_transaction(
        self, spec: AbortTransactionSpec, *, timeout_ms: int | None = None
    ) -> Promise[None]:
        """For a hanging one: its coordinator has forgotten it, and readers wait for its end."""
        return self._keyed(AbortTransaction(spec), [spec.partition], timeout_ms)[spec.partition]

    def fence_producers(
        self, transactional_ids: Iterable[str], *, timeout_ms: int | None = None
    ) -> dict[str, Promise[ProducerIdAndEpoch]]:
        """Fence the current producers with these ids, and abort their transactions."""
        open_ms = self._makings.request_timeout_ms if timeout_ms is None else timeout_ms
        return self._keyed(FenceProducers(open_ms), transactional_ids, timeout_ms)
