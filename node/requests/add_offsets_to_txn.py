"""AddOffsetsToTxn (25), versions 0-4: a group's offsets become part of a transaction (KIP-98).

It is AddPartitionsToTxn of the partition of __consumer_offsets that the group belongs to, whether
it is there or not. v2 knows PRODUCER_FENCED (KIP-588), v4 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import Producer
from logquake.node.metadata.coordinators import CoordinatorTopic
from logquake.node.requests.handler import Handler
from logquake.node.requests.offsets_of_transaction import offsets_denial
from logquake.node.requests.producer_fencing import fencing_error
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

_FIRST_VERSION_WITH_FENCED = 2


class AddOffsetsToTxn(Handler[AddOffsetsToTxnRequest]):
    key = ApiKey.ADD_OFFSETS_TO_TXN
    versions = range(5)

    def __init__(
        self,
        coordinator: TransactionCoordinator,
        group_topic: CoordinatorTopic,
        authorizer: Authorizer,
    ) -> None:
        self._coordinator = coordinator
        self._group_topic = group_topic
        self._authorizer = authorizer

    def handle(self, request: Request, body: AddOffsetsToTxnRequest) -> None:
        version = request.header.api_version

        def done(error: ErrorCode) -> None:
            told = fencing_error(error, version, since=_FIRST_VERSION_WITH_FENCED)
            request.reply(AddOffsetsToTxnResponse(error_code=told))

        if denied := offsets_denial(
            self._authorizer, request, body.transactional_id, body.group_id
        ):
            done(denied)
            return
        self._coordinator.add_partitions(
            body.transactional_id,
            Producer(body.producer_id, body.producer_epoch),
            frozenset({self._group_topic.partition_of(body.group_id)}),
            done,
        )
