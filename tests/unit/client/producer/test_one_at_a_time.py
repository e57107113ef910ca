"""Delivery: what is written, what is retried, and what is known when it failed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.client.errors import DeliveryError
from logquake.client.producer import Delivered, Producer, ProducerRecord, ProducerSettings
from logquake.client.routing import Router
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from logquake.wire.messages.transactions import InitProducerIdResponse
from logquake.wire.records import BatchHeader, ProduceLimits, read_header, validate_produced
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology

RECORDS = [ProducerRecord(b"k", b"v"), ProducerRecord(None, b"w", (("h", b"x"),), 5)]
IDEMPOTENT = ProducerSettings(enable_idempotence=True, delivery_timeout_ms=5000)


def produced(code: ErrorCode = ErrorCode.NONE, base_offset: int = 40) -> ProduceResponse:
    result = PartitionProduceResponse(index=0, error_code=code, base_offset=base_offset)
    return ProduceResponse(responses=[TopicProduceResponse(name="t", partition_responses=[result])])


def answering(*answers: ProduceResponse | Exception) -> Callable[[Any, Any], Any]:
    left = list(answers)
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


def batches(network: FakeNetwork) -> list[BatchHeader]:
    return [
        read_header(request.topic_data[0].partition_data[0].records)
        for request in network.requests[ApiKey.PRODUCE]
    ]


@pytest.fixture(autouse=True)
def _producer_ids(network: FakeNetwork) -> None:
    ids = iter(range(100, 200))
    network.handlers[ApiKey.INIT_PRODUCER_ID] = lambda *_: InitProducerIdResponse(
        error_code=0, producer_id=next(ids), producer_epoch=0, throttle_time_ms=0
    )


def test_records_become_one_batch_that_a_broker_accepts(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(produced())
    assert Producer(router).send("t", 0, RECORDS) == Delivered(40)
    request = network.requests[ApiKey.PRODUCE][0]
    assert request.acks == -1
    records = request.topic_data[0].partition_data[0].records
    header = read_header(records)
    assert (header.record_count, header.has_producer_id) == (2, False)
    assert validate_produced(records, 0, header, ProduceLimits(), 0) == router.clock.wall_ms()


def test_a_leader_that_moved_is_followed(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    def moved(_request: Any, address: Any) -> ProduceResponse:
        if address.host == "two":
            return produced()
        topology.leaders[0] = (2, 6)
        return produced(ErrorCode.NOT_LEADER_OR_FOLLOWER)

    network.handlers[ApiKey.PRODUCE] = moved
    assert Producer(router).send("t", 0, RECORDS).base_offset == 40


def test_sequences_count_records_per_partition(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(produced())
    producer = Producer(router, IDEMPOTENT)
    for partition in (0, 0, 1, 0):
        producer.send("t", partition, RECORDS)
    assert [(b.producer_id, b.base_sequence) for b in batches(network)] == [
        (100, 0),
        (100, 2),
        (100, 0),
        (100, 4),
    ]
    assert len(network.requests[ApiKey.INIT_PRODUCER_ID]) == 1


def test_a_lost_answer_is_asked_for_again_with_the_same_sequence(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(
        ConnectionResetError("reset"), produced(base_offset=40)
    )
    assert Producer(router, IDEMPOTENT).send("t", 0, RECORDS).base_offset == 40
    first, second = batches(network)
    assert first == second


def test_a_batch_that_the_broker_has_already_is_delivered(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(
        produced(ErrorCode.DUPLICATE_SEQUENCE_NUMBER, base_offset=-1)
    )
    assert Producer(router, IDEMPOTENT).send("t", 0, RECORDS) == Delivered(-1)


@pytest.mark.parametrize(
    ("answer", "may_be_written"),
    [
        (produced(ErrorCode.MESSAGE_TOO_LARGE), False),
        (produced(ErrorCode.NOT_LEADER_OR_FOLLOWER), False),
        (produced(ErrorCode.NOT_ENOUGH_REPLICAS), False),
        (produced(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND), True),
        (produced(ErrorCode.REQUEST_TIMED_OUT), True),
        (ConnectionResetError("reset"), True),
    ],
    ids=["refused", "not leader", "isr too small", "isr shrank after", "time-out", "lost"],
)
def test_a_failure_says_whether_the_batch_may_be_written(
    router: Router, network: FakeNetwork, answer: ProduceResponse | Exception, may_be_written: bool
) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(answer)
    with pytest.raises(DeliveryError) as failed:
        Producer(router, ProducerSettings(delivery_timeout_ms=1000)).send("t", 0, RECORDS)
    assert failed.value.may_be_written is may_be_written


def test_an_attempt_of_unknown_fate_is_not_forgotten_by_a_clear_refusal(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.PRODUCE] = answering(
        ConnectionResetError("reset"), produced(ErrorCode.MESSAGE_TOO_LARGE)
    )
    with pytest.raises(DeliveryError) as failed:
        Producer(router).send("t", 0, RECORDS)
    assert failed.value.may_be_written


def test_a_batch_of_unknown_fate_ends_its_sequence(router: Router, network: FakeNetwork) -> None:
    producer = Producer(router, IDEMPOTENT)
    network.handlers[ApiKey.PRODUCE] = answering(ConnectionResetError("reset"))
    with pytest.raises(DeliveryError):
        producer.send("t", 0, RECORDS)
    network.handlers[ApiKey.PRODUCE] = answering(produced())
    producer.send("t", 0, RECORDS)
    last = batches(network)[-1]
    assert (last.producer_id, last.base_sequence) == (101, 0)


def test_a_refused_batch_leaves_the_sequence_as_it_was(
    router: Router, network: FakeNetwork
) -> None:
    producer = Producer(router, IDEMPOTENT)
    network.handlers[ApiKey.PRODUCE] = answering(produced(ErrorCode.MESSAGE_TOO_LARGE))
    with pytest.raises(DeliveryError):
        producer.send("t", 0, RECORDS)
    network.handlers[ApiKey.PRODUCE] = answering(produced())
    producer.send("t", 0, RECORDS)
    assert [(b.producer_id, b.base_sequence) for b in batches(network)] == [(100, 0), (100, 0)]


def test_without_acks_nothing_is_waited_for(
    router: Router, network: FakeNetwork, clock: FakeClock
) -> None:
    network.handlers[ApiKey.PRODUCE] = lambda *_: None
    started = clock.now
    assert Producer(router, ProducerSettings(acks=0)).send("t", 0, RECORDS) == Delivered(-1)
    assert clock.now == started


def test_no_records_are_refused(router: Router) -> None:
    with pytest.raises(ValueError, match="no records"):
        Producer(router).send("t", 0, [])


def test_idempotence_without_acks_of_all_is_refused() -> None:
    with pytest.raises(ValueError, match="acks=all"):
        ProducerSettings(acks=1, enable_idempotence=True)
