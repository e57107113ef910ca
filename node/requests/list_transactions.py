"""ListTransactions (66), versions 0-1: the transactional ids coordinated here (KIP-664).

v1 shows those alone whose transaction began longer ago than a duration (KIP-994).
Those that the asker may not describe are left out.
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.listing import TransactionFilter, unknown_states
from logquake.node.coordinators.transactions.states import state_name
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    ListTransactionsResponseTransactionState,
)


class ListTransactions(Handler[ListTransactionsRequest]):
    key = ApiKey.LIST_TRANSACTIONS
    versions = range(2)

    def __init__(self, coordinator: TransactionCoordinator, authorizer: Authorizer) -> None:
        self._coordinator = coordinator
        self._authorizer = authorizer

    def handle(self, request: Request, body: ListTransactionsRequest) -> None:
        wanted = TransactionFilter(
            frozenset(body.producer_id_filters),
            frozenset(body.state_filters),
            body.duration_filter,
        )
        found = self._coordinator.list_those(wanted)
        if isinstance(found, ErrorCode):
            request.reply(ListTransactionsResponse(error_code=found))
            return
        ids = (each.transactional_id for each in found)
        hidden = self._authorizer.denied(
            request, AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, ids
        )
        request.reply(
            ListTransactionsResponse(
                unknown_state_filters=unknown_states(body.state_filters),
                transaction_states=[
                    ListTransactionsResponseTransactionState(
                        transactional_id=each.transactional_id,
                        producer_id=each.producer.id,
                        transaction_state=state_name(each.state),
                    )
                    for each in found
                    if each.transactional_id not in hidden
                ],
            )
        )
