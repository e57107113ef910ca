"""Which partitions are part of a transaction, and adding them to it (AddPartitionsToTxnHandler).

AddPartitionsToTxn, up to version 3: later ones are between brokers (KIP-890).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import ClassVar

from logquake.client.errors import BrokerError
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Question,
    Signature,
)
from logquake.client.producer.transactions.verdicts import (
    FENCED,
    Abortable,
    Added,
    Again,
    Fatal,
    Verdict,
    on_refusal,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

LAST_ADD_OF_CLIENTS = 3  # of AddPartitionsToTxn (KIP-890)
# The previous transaction is still being completed, which takes a moment (KAFKA-5482).
_SOON_MS = 20
# Errors about the producer; any other is about a partition, and an abort repairs it.
_FATAL = FENCED | {ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, ErrorCode.INVALID_TXN_STATE}


class Begun(Enum):
    """Whether the coordinator knows of the transaction."""

    NO = "no"
    PERHAPS = "perhaps"  # a response to an addition was lost, or it has to be repeated
    YES = "yes"


class Enlisted:
    def __init__(self) -> None:
        self.new: dict[TopicPartition, None] = {}  # the coordinator has to be told
        self.added: set[TopicPartition] = set()
        self.begun = Begun.NO
        self._told: set[TopicPartition] = set()  # requested, without a response so far

    def add(self, place: TopicPartition) -> None:
        if place not in self.added and place not in self._told:
            self.new[place] = None

    def take_new(self) -> list[TopicPartition]:
        taken = list(self.new)
        self._told.update(taken)
        self.new.clear()
        return taken

    def were_added(self, places: Iterable[TopicPartition]) -> None:
        self.added.update(places)
        self._told.difference_update(self.added)
        self.begun = Begun.YES

    def may_have_begun(self) -> None:
        if self.begun is Begun.NO:
            self.begun = Begun.PERHAPS


class AddPartitions(Question):
    request: ClassVar[type[Message]] = AddPartitionsToTxnRequest
    response: ClassVar[type[Message]] = AddPartitionsToTxnResponse
    last_version: ClassVar[int | None] = LAST_ADD_OF_CLIENTS

    def __init__(
        self, signature: Signature, places: Sequence[TopicPartition], *, is_first: bool
    ) -> None:
        """``is_first``: the transaction has no partition yet."""
        coordinator = CoordinatorKey.of_transactions(signature.transactional_id)
        super().__init__(Operation("add_partitions"), coordinator)
        self._signature = signature
        self._places = tuple(places)
        self._is_first = is_first

    def message(self, _version: int) -> Message:
        by_topic: defaultdict[str, list[int]] = defaultdict(list)
        for topic, partition in self._places:
            by_topic[topic].append(partition)
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self._signature.transactional_id,
            v3_and_below_producer_id=self._signature.identity.producer_id,
            v3_and_below_producer_epoch=self._signature.identity.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=partitions)
                for topic, partitions in by_topic.items()
            ],
        )

    def judge(self, answer: Message) -> Verdict:
        """The first error that concerns more than its partition decides. Partitions that the
        response lacks may have been added.
        """
        assert isinstance(answer, AddPartitionsToTxnResponse)
        refused: dict[TopicPartition, ErrorCode] = {}
        unsaid = set(self._places)
        for topic in answer.results_by_topic_v3_and_below:
            for one in topic.results_by_partition:
                place = TopicPartition(topic.name, one.partition_index)
                code = ErrorCode.of_peer(one.partition_error_code)
                verdict = self._of_all(code, place)
                if verdict is not None:
                    return verdict
                unsaid.discard(place)
                if code is not ErrorCode.NONE:
                    refused[place] = code
        if refused:
            return Abortable(_reason(refused))
        return Again() if unsaid else Added(self._places)

    def _of_all(self, code: ErrorCode, place: TopicPartition) -> Verdict | None:
        if code is ErrorCode.NONE:
            return None
        if code is ErrorCode.CONCURRENT_TRANSACTIONS:
            return Again(at_most_ms=_SOON_MS if self._is_first else None)
        context = f"{place} in a transaction of {self._signature.transactional_id}"
        verdict = on_refusal(code, context)
        return None if isinstance(verdict, Fatal) and code not in _FATAL else verdict


def _reason(refused: dict[TopicPartition, ErrorCode]) -> BrokerError:
    """An authorization error lists all denied topics; otherwise the first error is the reason."""
    denied = [
        place.topic
        for place, code in refused.items()
        if code is ErrorCode.TOPIC_AUTHORIZATION_FAILED
    ]
    if denied:
        return BrokerError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, ", ".join(dict.fromkeys(denied)))
    at_fault = {
        place: code
        for place, code in refused.items()
        if code is not ErrorCode.OPERATION_NOT_ATTEMPTED
    }
    place, code = next(iter((at_fault or refused).items()))
    return BrokerError(code, f"{place} cannot be part of a transaction")
