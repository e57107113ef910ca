"""DescribeTransactions (65), version 0: the state of transactional ids (KIP-664).

Of its topics those are told that the asker may describe.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Transaction
from logquake.node.coordinators.transactions.states import by_topic, state_name
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
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

    def __init__(self, coordinator: TransactionCoordinator, authorizer: Authorizer) -> None:
        self._coordinator = coordinator
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeTransactionsRequest) -> None:
        request.reply(
            DescribeTransactionsResponse(
                transaction_states=[
                    self._describe(request, each) for each in body.transactional_ids
                ]
            )
        )

    def _describe(
        self, request: Request, transactional_id: str
    ) -> DescribeTransactionsResponseTransactionState:
        found = (
            self._coordinator.describe(transactional_id)
            if self._allows(request, ResourceType.TRANSACTIONAL_ID, transactional_id)
            else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        )
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
            topics=[
                topic
                for topic in _topics(found)
                if self._allows(request, ResourceType.TOPIC, topic.topic)
            ],
        )

    def _allows(self, request: Request, resource_type: ResourceType, name: str) -> bool:
        return self._authorizer.allows(request, AclOperation.DESCRIBE, resource_type, name)


def _topics(transaction: Transaction) -> list[TopicData]:
    """Those that still lack a marker, once it is decided."""
    return [
        TopicData(topic=name, partitions=indexes)
        for name, indexes in by_topic(transaction.state.partitions).items()
    ]
