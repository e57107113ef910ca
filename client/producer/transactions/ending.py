"""Committing and aborting (TransactionManager.EndTxnHandler).

EndTxn, up to the schema's version.
"""

from __future__ import annotations

from typing import ClassVar

from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Priority,
    Question,
    Signature,
)
from logquake.client.producer.transactions.verdicts import Ended, Verdict, on_refusal
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import EndTxnRequest, EndTxnResponse
from logquake.wire.schema import Message


class End(Question):
    """Readers may see the records a moment after the coordinator's decision.

    ``is_unsure``: the coordinator may not know of the transaction.
    """

    request: ClassVar[type[Message]] = EndTxnRequest
    response: ClassVar[type[Message]] = EndTxnResponse

    def __init__(self, operation: Operation, signature: Signature, *, commits: bool) -> None:
        coordinator = CoordinatorKey.of_transactions(signature.transactional_id)
        super().__init__(operation, coordinator, Priority.END)
        self._signature = signature
        self._commits = commits
        self.is_unsure = False

    def message(self, _version: int) -> Message:
        transactional_id, identity = self._signature
        return EndTxnRequest(
            transactional_id=transactional_id,
            producer_id=identity.producer_id,
            producer_epoch=identity.epoch,
            committed=self._commits,
        )

    def judge(self, answer: Message) -> Verdict:
        assert isinstance(answer, EndTxnResponse)
        code = ErrorCode.of_peer(answer.error_code)
        never_begun = self.is_unsure and code is ErrorCode.INVALID_TXN_STATE
        if code is ErrorCode.NONE or never_begun:
            return Ended()
        verb = "commit" if self._commits else "abort"
        return on_refusal(code, f"{verb} of a transaction of {self._signature.transactional_id}")
