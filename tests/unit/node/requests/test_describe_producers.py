"""DescribeProducers, and producers that are forgotten when they are idle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import DescribeProducersRequest, TopicRequest
from tests.unit.node.requests.lone_broker import TOPIC, LoneBroker
from tests.unit.node.requests.transactions import (
    marker,
    produce,
    transactional_batch,
    write_markers,
)

NOW_MS = 1_700_000_000_000


@pytest.fixture
def properties() -> dict[str, str]:
    """No coordinator is there to be asked."""
    return {
        "transaction.partition.verification.enable": "false",
        "producer.id.expiration.ms": "60000",
        "producer.id.expiration.check.interval.ms": "1000",
    }


def describe(broker: LoneBroker, *partitions: int, topic: str = TOPIC) -> list[Any]:
    request = DescribeProducersRequest(
        topics=[TopicRequest(name=topic, partition_indexes=list(partitions))]
    )
    (answer,) = broker.ask(request, 0).topics
    assert answer.name == topic
    assert [each.partition_index for each in answer.partitions] == list(partitions)
    return list(answer.partitions)


def producers(broker: LoneBroker) -> list[tuple[int, ...]]:
    """Id, epoch, last sequence, coordinator epoch, start of the open transaction."""
    (partition,) = describe(broker, 0)
    assert (partition.error_code, partition.error_message) == (ErrorCode.NONE, None)
    return [
        (
            each.producer_id,
            each.producer_epoch,
            each.last_sequence,
            each.coordinator_epoch,
            each.current_txn_start_offset,
        )
        for each in partition.active_producers
    ]


def test_each_producer_is_told_with_its_open_transaction(broker: LoneBroker) -> None:
    assert producers(broker) == []
    broker.ask(produce(transactional_batch()), 11)
    broker.ask(produce(transactional_batch(pid=8, epoch=2)), 11)
    assert producers(broker) == [(7, 0, 0, -1, 0), (8, 2, 0, -1, 1)]
    write_markers(broker, marker(0, coordinator_epoch=4))
    assert producers(broker) == [(7, 0, 0, 4, -1), (8, 2, 0, -1, 1)]


def test_a_marker_alone_makes_a_producer_without_sequence(broker: LoneBroker) -> None:
    write_markers(broker, marker(0, epoch=3))
    assert producers(broker) == [(7, 3, -1, 0, -1)]


def test_the_last_time_is_that_of_its_records(broker: LoneBroker) -> None:
    broker.ask(produce(transactional_batch()), 11)
    (partition,) = describe(broker, 0)
    assert [each.last_timestamp for each in partition.active_producers] == [NOW_MS]


def test_an_idle_producer_is_forgotten_unless_its_transaction_is_open(
    broker: LoneBroker, batch: Callable[..., bytes]
) -> None:
    now_ms = broker.scheduler.wall_ms()
    idle = batch(b"a", timestamp_ms=now_ms, producer_id=5, producer_epoch=0, base_sequence=0)
    broker.ask(produce(idle, transactional_id=None), 11)
    broker.ask(produce(transactional_batch()), 11)
    assert [pid for pid, *_ in producers(broker)] == [5, 7]
    broker.scheduler.advance(62_000)
    broker.settle()
    assert [pid for pid, *_ in producers(broker)] == [7]


@pytest.mark.parametrize(
    ("topic", "error", "message"),
    [
        (
            "nowhere",
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "This server does not host this topic-partition.",
        ),
        (
            "no spaces",
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name is invalid: 'no spaces' contains one or more characters other than ASCII "
            "alphanumerics, '.', '_' and '-'",
        ),
        ("elsewhere", ErrorCode.NOT_LEADER_OR_FOLLOWER, None),
    ],
)
def test_what_is_not_here(
    broker: LoneBroker, topic: str, error: ErrorCode, message: str | None
) -> None:
    (partition,) = describe(broker, 0, topic=topic)
    assert (partition.error_code, partition.error_message) == (error, message)
    assert partition.active_producers == []


def test_a_partition_that_nobody_knows(broker: LoneBroker) -> None:
    codes = [each.error_code for each in describe(broker, 0, 9, -1)]
    assert codes == [0, *[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2]
