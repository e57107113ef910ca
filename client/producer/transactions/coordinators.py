"""The coordinators of a transactional id and of groups (TransactionManager.FindCoordinatorHandler).

FindCoordinator, up to the schema's version; from 4 on a key is one of several (KIP-699).
"""

from __future__ import annotations

from typing import ClassVar

from logquake.client.errors import BrokerError, MalformedResponseError, UnsupportedVersionError
from logquake.client.network.coordinator_lookups import found_of, lookup
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.producer_states import Remedy
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Priority,
    Question,
)
from logquake.client.producer.transactions.verdicts import (
    Abortable,
    Again,
    Fatal,
    Found,
    Verdict,
)
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.schema import Message

_FIRST_OF_TRANSACTIONS = 1
_ABORTABLE = (ErrorCode.GROUP_AUTHORIZATION_FAILED, ErrorCode.TRANSACTION_ABORTABLE)


class FindCoordinator(Question):
    """Any broker can answer this."""

    request: ClassVar[type[Message]] = FindCoordinatorRequest
    response: ClassVar[type[Message]] = FindCoordinatorResponse

    def __init__(self, of: CoordinatorKey) -> None:
        super().__init__(Operation("find_coordinator"), None, Priority.COORDINATOR)
        self.of = of

    def message(self, version: int, /) -> Message:
        kind, name = self.of
        if version < _FIRST_OF_TRANSACTIONS and kind is CoordinatorType.TRANSACTION:
            raise UnsupportedVersionError("the broker knows no transactions, it is older than 0.11")
        return lookup(version, kind, [name])

    def judge(self, answer: Message) -> Verdict:
        assert isinstance(answer, FindCoordinatorResponse)
        try:
            one = found_of(answer, self.of.name)
        except MalformedResponseError as error:
            return Fatal(error)
        return self._judge(one.error_code, one.node_id, one.error_message)

    def _judge(self, number: int, node_id: int, said: str | None) -> Verdict:
        code = ErrorCode.of_peer(number)
        if code is ErrorCode.NONE:
            return Found(node_id)
        if code.retriable:
            return Again()
        error = BrokerError(code, f"coordinator of {self.of}" + (f": {said}" if said else ""))
        return Abortable(error, Remedy.ABORT) if code in _ABORTABLE else Fatal(error)
