"""What answers mean that make no sense: nothing is taken for said that is not."""

from __future__ import annotations

import pytest

from logquake.client.consumer.offsets import ConsumerGroupMetadata, OffsetAndMetadata
from logquake.client.errors import MalformedResponseError, UnsupportedVersionError
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.transactions.coordinators import FindCoordinator
from logquake.client.producer.transactions.enlisted import AddPartitions
from logquake.client.producer.transactions.offsets import CommitOffsets
from logquake.client.producer.transactions.operation import Operation
from logquake.client.producer.transactions.producer_ids import InitProducerId
from logquake.client.producer.transactions.question import (
    CoordinatorKey,
    Signature,
)
from logquake.client.producer.transactions.verdicts import (
    Again,
    Fatal,
    Found,
    OffsetsCommitted,
    Verdict,
)
from logquake.wire.coordinator_type import CoordinatorType
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from logquake.wire.messages.transaction_commit import TxnOffsetCommitResponse
from logquake.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    InitProducerIdResponse,
)
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.transaction_answers import partitions_added

SIGNATURE = Signature("mine", Identity(9, 0))
PLACES = [TopicPartition("t", 0), TopicPartition("t", 1)]
MINE = CoordinatorKey.of_transactions("mine")


def is_nonsense(verdict: Verdict) -> bool:
    return isinstance(verdict, Fatal) and isinstance(verdict.error, MalformedResponseError)


def test_partitions_of_which_nothing_is_said_are_asked_for_again() -> None:
    question = AddPartitions(SIGNATURE, PLACES, is_first=True)
    assert question.judge(AddPartitionsToTxnResponse()) == Again()
    request = AddPartitions(SIGNATURE, PLACES[:1], is_first=True).message(3)
    assert isinstance(request, AddPartitionsToTxnRequest)
    assert question.judge(partitions_added(request, ErrorCode.NONE)) == Again()


def test_offsets_of_which_nothing_is_said_are_committed_again() -> None:
    offsets = {PLACES[0]: OffsetAndMetadata(5)}
    group = ConsumerGroupMetadata("readers")
    question = CommitOffsets(Operation("send_offsets"), SIGNATURE, offsets, group)
    assert question.judge(TxnOffsetCommitResponse()) == Again()
    nothing = CommitOffsets(Operation("send_offsets"), SIGNATURE, {}, group)
    assert nothing.judge(TxnOffsetCommitResponse()) == OffsetsCommitted()


@pytest.mark.parametrize(("producer_id", "epoch"), [(-1, 0), (9, -1)])
def test_an_id_that_is_none_is_not_taken(producer_id: int, epoch: int) -> None:
    question = InitProducerId(Operation("init_transactions"), "mine", 60_000)
    answer = InitProducerIdResponse(producer_id=producer_id, producer_epoch=epoch)
    assert is_nonsense(question.judge(answer))


def test_a_coordinator_of_another_is_not_taken() -> None:
    question = FindCoordinator(MINE)
    mine, other = (Coordinator(key=key, node_id=1) for key in ("mine", "other"))
    assert question.judge(FindCoordinatorResponse(coordinators=[mine])) == Found(1)
    until_version_3 = FindCoordinatorResponse(node_id=2, host="b")
    assert question.judge(until_version_3) == Found(2)
    for coordinators in ([], [other], [mine, other]):
        assert is_nonsense(question.judge(FindCoordinatorResponse(coordinators=coordinators)))


def test_a_broker_from_before_transactions_is_told_apart() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"0\.11"):
        FindCoordinator(MINE).message(0)
    FindCoordinator(CoordinatorKey(CoordinatorType.GROUP, "readers")).message(0)
