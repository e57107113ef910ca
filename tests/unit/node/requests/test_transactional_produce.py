"""Produce within transactions, in every version that carries a transactional id."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.seams.network import Disconnected
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import ProduceRequest
from logquake.wire.schema import Message
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker
from tests.unit.node.requests.transactions import (
    marker,
    produce,
    transactional_batch,
    verifications,
    verify,
    write_markers,
)

every_version = pytest.mark.parametrize("version", range(3, 12))
UNVERIFIED = "Unable to verify the partition has been added to the transaction. Underlying error: "


@pytest.fixture
def properties() -> dict[str, str]:
    return {"transaction.state.log.num.partitions": "1"}


@pytest.fixture
def broker(broker: LoneBroker) -> LoneBroker:
    """Broker 2 coordinates all transactions."""
    broker.learn_of_other_broker(leads="__transaction_state")
    return broker


class Sending:
    """A request under way; ``answers`` are (error, message, base offset) by partition."""

    def __init__(self, broker: LoneBroker, request: ProduceRequest, version: int = 11) -> None:
        self.outcomes: list[Message | Disconnected] = []
        broker.serve(request, version, self.outcomes.append)

    @property
    def answers(self) -> list[tuple[int, str | None, int]]:
        (response,) = self.outcomes
        found: Any = response
        (topic,) = found.responses
        return [
            (each.error_code, each.error_message, each.base_offset)
            for each in sorted(topic.partition_responses, key=lambda each: each.index)
        ]


def ends(broker: LoneBroker) -> list[int]:
    found = [broker.parts.replicas.partition(TOPIC, index) for index in (0, 1)]
    return [partition.replica.end for partition in found if partition is not None]


@every_version
def test_the_first_batches_wait_for_the_coordinator(broker: LoneBroker, version: int) -> None:
    first = Sending(broker, produce(transactional_batch(), transactional_batch()), version)
    (asked,) = verifications(broker)
    (transaction,) = asked.request.transactions
    assert (transaction.transactional_id, transaction.producer_id) == ("t", 7)
    assert [(topic.name, topic.partitions) for topic in transaction.topics] == [(TOPIC, [0, 1])]
    assert (first.outcomes, ends(broker)) == ([], [0, 0])
    verify(broker, 0, 0)
    assert first.answers == [(0, None, 0), (0, None, 0)]
    following = Sending(broker, produce(transactional_batch(1), transactional_batch(1)), version)
    assert following.answers == [(0, None, 1), (0, None, 1)]
    assert len(verifications(broker)) == 1


def test_nobody_else_waits_for_the_coordinator(broker: LoneBroker, batch: Any) -> None:
    waiting = Sending(broker, produce(transactional_batch()))
    other = Sending(broker, produce(batch(b"plain"), transactional_id=None))
    assert (waiting.outcomes, other.answers) == ([], [(0, None, 0)])
    verify(broker, 0)
    assert waiting.answers == [(0, None, 1)]


def test_what_the_receive_buffer_holds_meanwhile_is_another_request(broker: LoneBroker) -> None:
    """As test_pipelining shows it may: what waits was copied."""
    frame = bytearray(transactional_batch())
    request = produce(b"")
    request.topic_data[0].partition_data[0].records = memoryview(frame)
    replicas = broker.parts.replicas
    waiting = Sending(broker, request)
    for at in range(len(frame)):
        frame[at] = 0xFF
    verify(broker, 0)
    assert waiting.answers == [(0, None, 0)]
    partition = replicas.partition(TOPIC, 0)
    assert partition is not None
    assert partition.replica.log.read(0, 1_000, up_to=1).read()[16] == 2  # the magic


@every_version
@pytest.mark.parametrize(
    ("code", "told", "message"),
    [
        (
            ErrorCode.INVALID_TXN_STATE,
            ErrorCode.INVALID_TXN_STATE,
            "Partition was not added to the transaction",
        ),
        (
            ErrorCode.CONCURRENT_TRANSACTIONS,
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"{UNVERIFIED}CONCURRENT_TRANSACTIONS",
        ),
        (
            ErrorCode.NOT_COORDINATOR,
            ErrorCode.NOT_ENOUGH_REPLICAS,
            f"{UNVERIFIED}NOT_COORDINATOR",
        ),
        (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH, None),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, ErrorCode.INVALID_PRODUCER_ID_MAPPING, None),
    ],
)
def test_what_the_coordinator_refuses_is_not_appended(
    broker: LoneBroker, version: int, code: ErrorCode, told: ErrorCode, message: str | None
) -> None:
    sending = Sending(broker, produce(transactional_batch(), transactional_batch()), version)
    verify(broker, 0, code)
    assert sending.answers == [(0, None, 0), (told, message if version >= 8 else None, -1)]
    assert ends(broker) == [1, 0]


@every_version
def test_only_clients_that_know_of_it_are_told_to_abort(broker: LoneBroker, version: int) -> None:
    sending = Sending(broker, produce(transactional_batch()), version)
    verify(broker, ErrorCode.TRANSACTION_ABORTABLE)
    known = version >= 11
    expected = ErrorCode.TRANSACTION_ABORTABLE if known else ErrorCode.INVALID_TXN_STATE
    assert sending.answers[0][0] == expected


def test_a_lost_connection_to_the_coordinator_is_tried_again(broker: LoneBroker) -> None:
    first = Sending(broker, produce(transactional_batch()))
    verifications(broker)[0].done(Disconnected("gone"))
    broker.broker.end_of_pass()
    message = f"{UNVERIFIED}NETWORK_EXCEPTION"
    assert first.answers == [(ErrorCode.NOT_ENOUGH_REPLICAS, message, -1)]
    again = Sending(broker, produce(transactional_batch()))
    verify(broker, 0)
    assert again.answers == [(0, None, 0)]


def test_a_marker_that_overtakes_the_answer_makes_it_worthless(broker: LoneBroker) -> None:
    """Else the batch would open a transaction that nobody ends."""
    sending = Sending(broker, produce(transactional_batch()))
    assert write_markers(broker, marker(0, commit=False)) == [(7, TOPIC, 0, 0)]
    verify(broker, 0)
    assert sending.answers == [(ErrorCode.INVALID_TXN_STATE, None, -1)]
    assert ends(broker) == [1, 0]


def test_a_partition_led_elsewhere_is_refused_without_asking(broker: LoneBroker) -> None:
    broker.learn_of_other_broker()
    sending = Sending(broker, produce(transactional_batch(), topic="elsewhere"))
    assert sending.answers == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, None, -1)]
    assert verifications(broker) == []


def test_two_producers_in_one_request_are_refused_together(broker: LoneBroker) -> None:
    both = produce(transactional_batch(), transactional_batch(pid=8))
    message = "Transactional records contained more than one producer ID"
    refused = (ErrorCode.INVALID_PRODUCER_ID_MAPPING, message, -1)
    assert Sending(broker, both).answers == [refused, refused]


def test_records_of_no_transaction_need_no_coordinator(broker: LoneBroker, batch: Any) -> None:
    """A transactional producer may send some."""
    assert Sending(broker, produce(batch(b"plain"))).answers == [(0, None, 0)]
    both = Sending(broker, produce(batch(b"plain"), transactional_batch()))
    (transaction,) = verifications(broker)[0].request.transactions
    assert [topic.partitions for topic in transaction.topics] == [[1]]
    verifications(broker)[0].done(Disconnected("gone"))
    broker.broker.end_of_pass()
    assert [code for code, _, _ in both.answers] == [0, ErrorCode.NOT_ENOUGH_REPLICAS]


def test_acks_0_is_verified_too(broker: LoneBroker) -> None:
    taken = Sending(broker, produce(transactional_batch(), acks=0))
    verify(broker, 0)
    assert taken.outcomes == [Disconnected("no response is due")]
    refused = Sending(broker, produce(transactional_batch(), transactional_batch(), acks=0))
    verify(broker, 0, ErrorCode.INVALID_TXN_STATE)
    assert refused.outcomes == [Disconnected("INVALID_TXN_STATE on orders-1, acks=0")]


class TestWithoutVerification:
    @pytest.fixture
    def properties(self) -> dict[str, str]:
        return {"transaction.partition.verification.enable": "false"}

    def test_nobody_is_asked(self, broker: LoneBroker) -> None:
        assert Sending(broker, produce(transactional_batch())).answers == [(0, None, 0)]
        assert verifications(broker) == []


class TestWithLittleRoom:
    @pytest.fixture
    def properties(self, properties: dict[str, str]) -> dict[str, str]:
        return properties | {"logquake.transaction.verification.max.bytes": "1"}

    def test_what_waits_is_bounded(self, broker: LoneBroker) -> None:
        waiting = Sending(broker, produce(transactional_batch()))
        refused = Sending(broker, produce(transactional_batch(pid=8)))
        message = f"{UNVERIFIED}COORDINATOR_NOT_AVAILABLE"
        assert refused.answers == [(ErrorCode.NOT_ENOUGH_REPLICAS, message, -1)]
        verify(broker, 0)
        assert waiting.answers == [(0, None, 0)]
        again = Sending(broker, produce(transactional_batch(pid=8)))
        verify(broker, 0)
        assert again.answers == [(0, None, 1)]
