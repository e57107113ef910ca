"""DescribeTransactions (65), version 0: the state of transactional ids (KIP-664)."""

from __future__ import annotations

from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Transaction
from logquake.node.coordinators.transactions.states import by_topic, state_name
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    DescribeTransactionsResponseTransactionState,
    TopicData,
)


class DescribeTransactions(Handler[DescribeTransactionsRequest]):
    key = ApiKey.DESCRIBE_TRANSACTIONS
    versions = range(1)

    def __init__(self, coordinator: TransactionCoordinator) -> None:
        self._coordinator = coordinator

    def handle(self, request: Request, body: DescribeTransactionsRequest) -> None:
        request.reply(
            DescribeTransactionsResponse(
                transaction_states=[self._describe(each) for each in body.transactional_ids]
            )
        )

    def _describe(self, transactional_id: str) -> DescribeTransactionsResponseTransactionState:
        found = self._coordinator.describe(transactional_id)
        if isinstance(found, ErrorCode):
            return DescribeTransactionsResponseTransactionState(
                transactional_id=transactional_id, error_code=found
            )
        return DescribeTransactionsResponseTransactionState(
            transactional_id=transactional_id,
            transaction_state=state_name(found.state),
            transaction_timeout_ms=found.metadata.timeout_ms,
            transaction_start_time_ms=found.state.started_ms,
            producer_id=found.producer.id,
            producer_epoch=found.producer.epoch,
            topics=_topics(found),
        )


def _topics(transaction: Transaction) -> list[TopicData]:
    """Those that still lack a marker, once it is decided."""
    return [
        TopicData(topic=name, partitions=indexes)
        for name, indexes in by_topic(transaction.state.partitions).items()
    ]
