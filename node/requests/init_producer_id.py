"""InitProducerId (22), versions 0-5: a producer id for an idempotent producer (KIP-98, KIP-360).

Absent: transactional ids. There is no transaction coordinator yet, so a request that names one is
answered COORDINATOR_NOT_AVAILABLE, as by a broker whose coordinator is not up.
"""

from __future__ import annotations

from logquake.node.producer_ids import ProducerIds
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID


class InitProducerId(Handler[InitProducerIdRequest]):
    key = ApiKey.INIT_PRODUCER_ID
    versions = range(6)

    def __init__(self, producer_ids: ProducerIds) -> None:
        self._producer_ids = producer_ids

    def handle(self, request: Request, body: InitProducerIdRequest) -> None:
        if error := _refusal(body):
            request.reply(_failed(error))
            return

        def done(producer_id: int | None) -> None:
            if producer_id is None:
                request.reply(_failed(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
            else:
                request.reply(InitProducerIdResponse(producer_id=producer_id, producer_epoch=0))

        # Without a transactional id there is nothing to fence: a producer that comes with an
        # exhausted epoch gets a new id, as from Kafka.
        self._producer_ids.next(done)


def _refusal(body: InitProducerIdRequest) -> ErrorCode | None:
    if (body.producer_id == NO_PRODUCER_ID) != (body.producer_epoch == NO_PRODUCER_EPOCH):
        return ErrorCode.INVALID_REQUEST
    if body.transactional_id is not None:
        return (
            ErrorCode.COORDINATOR_NOT_AVAILABLE
            if body.transactional_id
            else ErrorCode.INVALID_REQUEST
        )
    return None


def _failed(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(
        error_code=error, producer_id=NO_PRODUCER_ID, producer_epoch=NO_PRODUCER_EPOCH
    )
