"""The id behind a transactional id, and its next epoch (TransactionManager.InitProducerIdHandler).

InitProducerId, up to the schema's version. The request fences the previous producer with that
transactional id; a producer that names its own id and epoch, from version 3 on, keeps its id
(KIP-360).
"""

from __future__ import annotations

from typing import ClassVar

from logquake.client.errors import BrokerError, MalformedResponseError, ProducerFencedError
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Priority,
    Question,
)
from logquake.client.producer.transactions.verdicts import (
    FENCED,
    Again,
    Denied,
    Fatal,
    Named,
    Verdict,
    on_refusal,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import InitProducerIdRequest, InitProducerIdResponse
from logquake.wire.schema import Message
from logquake.wire.sentinels import NO_PRODUCER_EPOCH, NO_PRODUCER_ID

FIRST_THAT_BUMPS = 3
_DENIED = (
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    # It concerns no transaction that could be aborted: the request is repeated.
    ErrorCode.TRANSACTION_ABORTABLE,
)
_NOBODY = Identity(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)


class InitProducerId(Question):
    """``present`` is the producer's current identity, None for a new producer."""

    request: ClassVar[type[Message]] = InitProducerIdRequest
    response: ClassVar[type[Message]] = InitProducerIdResponse

    def __init__(
        self,
        operation: Operation,
        transactional_id: str,
        timeout_ms: int,
        present: Identity | None = None,
    ) -> None:
        coordinator = CoordinatorKey.of_transactions(transactional_id)
        super().__init__(operation, coordinator, Priority.END if present else Priority.PRODUCER_ID)
        self._transactional_id = transactional_id
        self._timeout_ms = timeout_ms
        self._present = present or _NOBODY

    def message(self, _version: int) -> Message:
        return InitProducerIdRequest(
            transactional_id=self._transactional_id,
            transaction_timeout_ms=self._timeout_ms,
            producer_id=self._present.producer_id,
            producer_epoch=self._present.epoch,
        )

    def judge(self, answer: Message) -> Verdict:
        assert isinstance(answer, InitProducerIdResponse)
        code = ErrorCode.of_peer(answer.error_code)
        context = f"no producer id for transactional.id {self._transactional_id}"
        if code is ErrorCode.INVALID_TRANSACTION_TIMEOUT:
            context += f": transaction.timeout.ms={self._timeout_ms} is more than brokers allow"
        if code is ErrorCode.NONE:
            return _named(Identity(answer.producer_id, answer.producer_epoch), context)
        if code in FENCED:
            return Fatal(ProducerFencedError(context))
        error = BrokerError(code, context)
        if code in _DENIED:
            return Denied(error)
        verdict = on_refusal(code, context)
        return verdict if isinstance(verdict, Again) else Fatal(error)


def _named(identity: Identity, context: str) -> Verdict:
    if identity.producer_id < 0 or identity.epoch < 0:
        return Fatal(MalformedResponseError(f"{context}: the answer has none, and no error"))
    return Named(identity)
