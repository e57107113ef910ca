"""InitProducerId (22), versions 0-5: a producer id and its epoch (KIP-98).

For a transactional id it is the coordinator's to give, and fences whoever had the epoch before; v3
says who asks, so that a producer can go on after an error (KIP-360); v4 knows PRODUCER_FENCED
(KIP-588), v5 TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.coordinators.transactions.metadata import NO_PRODUCER, Producer
from logquake.node.coordinators.transactions.rules import Initialization
from logquake.node.producer_ids import ProducerIds
from logquake.node.requests.handler import Handler
from logquake.node.requests.producer_fencing import fencing_error
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

_FIRST_VERSION_WITH_FENCED = 4


class InitProducerId(Handler[InitProducerIdRequest]):
    key = ApiKey.INIT_PRODUCER_ID
    versions = range(6)

    def __init__(
        self, producer_ids: ProducerIds, coordinator: TransactionCoordinator, authorizer: Authorizer
    ) -> None:
        self._producer_ids = producer_ids
        self._coordinator = coordinator
        self._authorizer = authorizer

    def handle(self, request: Request, body: InitProducerIdRequest) -> None:
        def done(initialized: Producer | ErrorCode) -> None:
            request.reply(_response(request.header.api_version, initialized))

        if error := self._denial(request, body):
            done(error)
            return
        if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
            done(ErrorCode.INVALID_REQUEST)
        elif body.transactional_id is None:
            # There is nothing to fence: a producer that comes with an exhausted epoch gets a new
            # id, as from Kafka.
            self._producer_ids.next(lambda producer_id: done(_first_epoch(producer_id)))
        else:
            expected = Producer(body.producer_id, body.producer_epoch)
            asked = Initialization(
                body.transaction_timeout_ms, None if expected == NO_PRODUCER else expected
            )
            self._coordinator.init_producer_id(body.transactional_id, asked, done)

    def _denial(self, request: Request, body: InitProducerIdRequest) -> ErrorCode | None:
        """To write to one topic is enough for an id without a transaction (KIP-679)."""
        authorizer, transactional_id = self._authorizer, body.transactional_id
        if transactional_id is not None:
            resource_type = ResourceType.TRANSACTIONAL_ID
            if authorizer.allows(request, AclOperation.WRITE, resource_type, transactional_id):
                return None
            return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
        if authorizer.allows_on_cluster(
            request, AclOperation.IDEMPOTENT_WRITE
        ) or authorizer.allows_on_some(request, AclOperation.WRITE, ResourceType.TOPIC):
            return None
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def _first_epoch(producer_id: int | None) -> Producer | ErrorCode:
    if producer_id is None:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    return Producer(producer_id, 0)


def _response(version: int, initialized: Producer | ErrorCode) -> InitProducerIdResponse:
    if isinstance(initialized, Producer):
        return InitProducerIdResponse(producer_id=initialized.id, producer_epoch=initialized.epoch)
    return InitProducerIdResponse(
        error_code=fencing_error(initialized, version, since=_FIRST_VERSION_WITH_FENCED),
        producer_id=NO_PRODUCER_ID,
        producer_epoch=NO_PRODUCER_EPOCH,
    )
