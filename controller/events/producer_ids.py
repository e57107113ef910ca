"""AllocateProducerIds (67): blocks of a thousand producer ids, each given away once (KIP-730).

The newest block is in /latest_producer_id_block. It is moved on by a write over the version that
was read: two controllers that both believe to be in office cannot give the same ids away.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from logquake.controller.journal_events import PRODUCER_IDS_ALLOCATED
from logquake.controller.term import Term
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from logquake.zk.operations import Failed, GetData, SetData, ZkError
from logquake.zk.procedure import ZkFailure, perform
from logquake.zk.znodes.cluster import PRODUCER_ID_BLOCK_SIZE, ProducerIdBlock

LAST_PRODUCER_ID = 2**63 - 1


async def allocate_producer_ids(
    term: Term,
    request: AllocateProducerIdsRequest,
    reply: Callable[[AllocateProducerIdsResponse], None],
) -> None:
    """Raises ControllerMoved, ZkFailure."""
    code = _fault(term, request)
    block = await _next_block(term, request.broker_id) if code is ErrorCode.NONE else None
    if block is None:
        reply(AllocateProducerIdsResponse(error_code=code or ErrorCode.UNKNOWN_SERVER_ERROR))
        return
    ids = f"producer ids {block.first} to {block.last}"
    term.note(PRODUCER_IDS_ALLOCATED, f"broker-{request.broker_id}", f"it asked: {ids}")
    reply(
        AllocateProducerIdsResponse(
            producer_id_start=block.first, producer_id_len=PRODUCER_ID_BLOCK_SIZE
        )
    )


def _fault(term: Term, request: AllocateProducerIdsRequest) -> ErrorCode:
    broker = term.context.brokers.get(request.broker_id)
    if broker is None:
        return ErrorCode.BROKER_ID_NOT_REGISTERED
    if broker.epoch != request.broker_epoch:
        return ErrorCode.STALE_BROKER_EPOCH
    return ErrorCode.NONE


async def _next_block(term: Term, broker_id: int) -> ProducerIdBlock | None:
    """None when every id has been given away, or nobody knows which have been."""
    while True:
        read = await perform(GetData(ProducerIdBlock.path()))
        previous = _previous_block(term, read.data)
        if read.data and (
            previous is None or previous.last > LAST_PRODUCER_ID - PRODUCER_ID_BLOCK_SIZE
        ):
            return None
        block = ProducerIdBlock.following(previous, broker_id)
        write = SetData(ProducerIdBlock.path(), block.encode(), read.stat.version)
        (outcome,) = await term.zk.write_each([write])
        if not isinstance(outcome, Failed):
            return block
        if outcome.error is not ZkError.BAD_VERSION:
            raise ZkFailure(outcome)


def _previous_block(term: Term, data: bytes) -> ProducerIdBlock | None:
    if not data:
        return None
    decode = partial(ProducerIdBlock.decode, data)
    return term.set_aside.take(ProducerIdBlock.path(), "producer-ids", decode)
