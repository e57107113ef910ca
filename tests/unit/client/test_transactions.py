"""Transactions, asked of one coordinator."""

from __future__ import annotations

from logquake.client.routing import Router
from logquake.client.transactions import TransactionListing, Transactions
from logquake.wire.api import ApiKey
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    ListTransactionsResponse,
    ListTransactionsResponseTransactionState,
    TopicData,
)
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeNetwork


def test_a_broker_lists_the_transactions_that_it_coordinates(
    router: Router, network: FakeNetwork
) -> None:
    state = ListTransactionsResponseTransactionState(
        transactional_id="tx", producer_id=4, transaction_state="Ongoing"
    )
    network.handlers[ApiKey.LIST_TRANSACTIONS] = lambda *_: ListTransactionsResponse(
        error_code=0, transaction_states=[state]
    )
    assert Transactions(router).list_at(2) == [TransactionListing("tx", 4, "Ongoing", 2)]


def test_what_has_not_begun_has_no_start(router: Router, network: FakeNetwork) -> None:
    def state(name: str, started_ms: int) -> DescribeTransactionsResponseTransactionState:
        return DescribeTransactionsResponseTransactionState(
            error_code=0,
            transactional_id=name,
            transaction_state="Ongoing",
            transaction_timeout_ms=60_000,
            transaction_start_time_ms=started_ms,
            producer_id=4,
            producer_epoch=1,
            topics=[TopicData(topic="t", partitions=[1, 0])],
        )

    network.handlers[ApiKey.DESCRIBE_TRANSACTIONS] = lambda *_: DescribeTransactionsResponse(
        transaction_states=[state("a", 5), state("b", -1)]
    )
    begun, not_begun = Transactions(router).describe_at(1, ["a", "b"])
    assert (begun.started_ms, not_begun.started_ms) == (5, None)
    assert begun.partitions == (TopicPartition("t", 0), TopicPartition("t", 1))
