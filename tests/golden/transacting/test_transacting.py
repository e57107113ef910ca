"""What a producer with a transactional id asks, in which order, and what it makes of answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.errors import ClientError
from logquake.client.producer.idempotence.idempotence import Idempotence
from logquake.client.producer.numbering import Unnumbered
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.transactions import Transactions
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.transaction_commit import (
    TxnOffsetCommitRequest,
)
from logquake.wire.messages.transactions import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    EndTxnResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.transaction_answers import offsets_committed, partitions_added
from tests.golden.player import check_script, scripts_beside
from tests.golden.sender.test_sender import SenderPlayer

TRANSACTIONAL_ID = "mine"


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, TransactionPlayer())


@dataclass
class Waiting:
    link: int
    header: RequestHeader
    request: Message


class TransactionPlayer(SenderPlayer):
    """Questions of coordinators are q1, q2..., in the order of their asking. Where a coordinator is
    is told at once, unless somebody wants to answer that too.
    """

    def __init__(self) -> None:
        self._speaks: dict[int, int] = {}
        self._questions: list[Waiting] = []
        self._operations: dict[str, Operation] = {}
        self._coordinators = {"transaction": 1, "group": 2}
        self._answers_finding = False
        super().__init__()

    def _new_numbering(self, *, idempotent: bool) -> Unnumbered | Idempotence | Transactions:
        del idempotent  # it always is
        self._transactions = Transactions(TRANSACTIONAL_ID, 60_000)
        return self._transactions

    def outcome(self) -> list[str]:
        lines = super().outcome()
        for name, operation in list(self._operations.items()):
            if operation.is_done:
                lines.append(f"{name} is done" if operation.error is None else _failed(operation))
                operation.is_heard = True
                del self._operations[name]
        return lines

    # What the program does

    def do_init(self) -> None:
        self._call(self._transactions.init)

    def do_begin(self) -> None:
        self._call(self._transactions.begin)

    def do_commit(self) -> None:
        self._call(self._transactions.commit)

    def do_abort(self) -> None:
        self._call(self._transactions.abort)

    def do_send(self, *places: str) -> None:
        try:
            self._transactions.check_may_send()
        except ClientError as error:
            self._log(f"raises {type(error).__name__}: {error}")
        else:
            self.do_append(*places)

    def do_send_offsets(
        self, group: str, *, member: str = "", generation: str = "-1", **offsets: str
    ) -> None:
        commits = {_place(place): OffsetAndMetadata(int(at)) for place, at in offsets.items()}
        who = ConsumerGroupMetadata(group, int(generation), member)
        self._call(lambda: self._transactions.send_offsets(commits, who))

    def do_give_up_waiting(self) -> None:
        """The program's call has timed out: nobody hears how it ends."""
        self._operations.clear()

    def do_close_by_force(self) -> None:
        self._transactions.close()

    def do_state(self) -> None:
        self._log(repr(self._transactions.state))

    def _call(self, call: object) -> None:
        assert callable(call)
        try:
            operation = call()
        except ClientError as error:
            self._log(f"raises {type(error).__name__}: {error}")
            return
        if isinstance(operation, Operation):
            self._operations[operation.name] = operation

    def _appended(self, place: TopicPartition) -> None:
        self._transactions.add(place)

    # What brokers do

    def do_speak(self, **versions: str) -> None:
        """The highest version of a request, for connections to come."""
        self._speaks |= {ApiKey[name.upper()]: int(last) for name, last in versions.items()}

    def do_coordinator(self, kind: str, node: str) -> None:
        self._coordinators[kind] = int(node)

    def do_answer_finding(self) -> None:
        """From now on the script answers FindCoordinator, too."""
        self._answers_finding = True

    def do_ok(self, question: str, producer_id: str = "9", epoch: str = "0") -> None:
        self._say(question, ErrorCode.NONE, producer_id=int(producer_id), epoch=int(epoch))

    def do_refuse(self, question: str, code: str, **by_place: str) -> None:
        """``t-0=CODE`` is the one of that partition, the others have ``code``."""
        codes = {_place(place): ErrorCode[name] for place, name in by_place.items()}
        self._say(question, ErrorCode[code], codes)

    def do_lose_question(self, question: str) -> None:
        asked = self._questions[int(question[1:]) - 1]
        self._links.lost(asked.link, "reset by peer", self._clock.now)

    def _say(
        self,
        question: str,
        code: ErrorCode,
        codes: dict[TopicPartition, ErrorCode] | None = None,
        *,
        producer_id: int = -1,
        epoch: int = -1,
    ) -> None:
        asked = self._questions[int(question[1:]) - 1]
        if isinstance(asked.request, InitProducerIdRequest):
            answer: Message = InitProducerIdResponse(
                error_code=code, producer_id=producer_id, producer_epoch=epoch
            )
        else:
            answer = self._answer_to(asked.request, code, codes or {})
        self._answer(asked.link, asked.header, answer)

    def _answer_to(
        self, request: Message, code: ErrorCode, codes: dict[TopicPartition, ErrorCode]
    ) -> Message:
        match request:
            case FindCoordinatorRequest():
                return self._coordinator(request, code)
            case AddPartitionsToTxnRequest():
                return partitions_added(request, code, codes)
            case AddOffsetsToTxnRequest():
                return AddOffsetsToTxnResponse(error_code=code)
            case TxnOffsetCommitRequest():
                return offsets_committed(request, code, codes)
            case EndTxnRequest():
                return EndTxnResponse(error_code=code)
        raise AssertionError(f"nobody expects {request}")

    def _coordinator(self, request: FindCoordinatorRequest, code: ErrorCode) -> Message:
        node = self._coordinators["transaction" if request.key_type else "group"]
        found = node if code is ErrorCode.NONE else -1
        if request.coordinator_keys:
            one = Coordinator(key=request.coordinator_keys[0], node_id=found, error_code=code)
            return FindCoordinatorResponse(coordinators=[one])
        return FindCoordinatorResponse(error_code=code, node_id=found, host="b")

    def _served(self) -> dict[int, int]:
        return super()._served() | {
            ApiKey.FIND_COORDINATOR: 4,
            ApiKey.ADD_PARTITIONS_TO_TXN: 5,
            ApiKey.ADD_OFFSETS_TO_TXN: 4,
            ApiKey.TXN_OFFSET_COMMIT: 4,
            ApiKey.END_TXN: 4,
            **self._speaks,
        }

    def _is_asked_for_id(self, link: int, header: RequestHeader, request: Message) -> None:
        self._is_asked(link, header, request)

    def _is_asked(self, link: int, header: RequestHeader, request: Message) -> None:
        if isinstance(request, FindCoordinatorRequest) and not self._answers_finding:
            self._log(f"looks for the coordinator of {_sought(request)}")
            self._answer(link, header, self._coordinator(request, ErrorCode.NONE))
            return
        self._questions.append(Waiting(link, header, request))
        name = f"q{len(self._questions)}"
        self._log(f"{name} asks {self._host(link)}: {_shown(request, header.api_version)}")


def _failed(operation: Operation) -> str:
    return f"{operation.name} fails, {type(operation.error).__name__}: {operation.error}"


def _place(text: str) -> TopicPartition:
    topic, partition = text.rsplit("-", 1)
    return TopicPartition(topic, int(partition))


def _sought(request: FindCoordinatorRequest) -> str:
    return (request.coordinator_keys or [request.key])[0]


def _shown(request: Message, version: int) -> str:
    match request:
        case FindCoordinatorRequest():
            return f"where is the coordinator of {_sought(request)}"
        case InitProducerIdRequest():
            present = ""
            if request.producer_id >= 0:
                present = f", so far {request.producer_id}/{request.producer_epoch}"
            return f"the producer id of {request.transactional_id}{present}"
        case AddPartitionsToTxnRequest():
            places = [
                f"{topic.name}-{partition}"
                for topic in request.v3_and_below_topics
                for partition in topic.partitions
            ]
            return f"add {' '.join(places)} (version {version})"
        case AddOffsetsToTxnRequest():
            return f"add offsets of {request.group_id}"
        case TxnOffsetCommitRequest():
            return f"commit {_offsets(request)}"
        case EndTxnRequest():
            verb = "commit" if request.committed else "abort"
            return f"{verb} as {request.producer_id}/{request.producer_epoch}"
    raise AssertionError(f"nobody expects {request}")


def _offsets(request: TxnOffsetCommitRequest) -> str:
    offsets = [
        f"{topic.name}-{one.partition_index}:{one.committed_offset}"
        for topic in request.topics
        for one in topic.partitions
    ]
    member = f" {request.member_id}/{request.generation_id}" if request.member_id else ""
    return f"{' '.join(offsets)} of {request.group_id}{member}"
