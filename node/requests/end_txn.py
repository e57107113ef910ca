"""EndTxn (26), versions 0-4: commit or abort a transaction (KIP-98).

Answered once the decision is committed in the coordinator's log; the markers follow. v2 knows
PRODUCER_FENCED (KIP-588), v4 TRANSACTION_ABORTABLE (KIP-890).
Absent, as in Kafka 3.9 with ZooKeeper: the epoch bump at the end of each transaction (v5).
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.requests.handler import Handler
from logquake.node.requests.producer_fencing import fencing_error
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import EndTxnRequest, EndTxnResponse

_FIRST_VERSION_WITH_FENCED = 2


class EndTxn(Handler[EndTxnRequest]):
    key = ApiKey.END_TXN
    versions = range(5)

    def __init__(self, coordinator: TransactionCoordinator, authorizer: Authorizer) -> None:
        self._coordinator = coordinator
        self._authorizer = authorizer

    def handle(self, request: Request, body: EndTxnRequest) -> None:
        version = request.header.api_version

        def done(error: ErrorCode) -> None:
            told = fencing_error(error, version, since=_FIRST_VERSION_WITH_FENCED)
            request.reply(EndTxnResponse(error_code=told))

        transactional_id = body.transactional_id
        if not self._authorizer.allows(
            request, AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id
        ):
            done(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            return
        self._coordinator.end(
            transactional_id,
            Producer(body.producer_id, body.producer_epoch),
            committed=body.committed,
            done=done,
        )
