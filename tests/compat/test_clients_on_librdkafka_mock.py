"""Our clients, feature by feature, on librdkafka's mock cluster, which fails as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from logquake.client import Consumer, OffsetAndMetadata, Producer, TopicPartition
from logquake.client.aio import Consumer as AioConsumer
from logquake.client.aio import Producer as AioProducer
from logquake.client.errors import (
    DeliveryError,
    ProducerFencedError,
    RebalanceInProgressError,
    TransactionFailedError,
)
from logquake.wire.api import ApiKey
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from tests.compat.librdkafka_mock import LOST, MockCluster, mock_cluster
from tests.waiting import PATIENCE_S, wait_for

BROKERS = (1, 2, 3)
VALUES = [b"%d" % index for index in range(20)]
# Several in flight stay in order because brokers refuse a sequence out of order: the mock does not.
IN_ORDER: dict[str, Any] = {"max.in.flight.requests.per.connection": 1}

PASSES = [
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    LOST,
]
FOR_GOOD = [ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.TOPIC_AUTHORIZATION_FAILED]
COORDINATOR_PASSES = [ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, LOST]
FETCH_PASSES = [ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.UNKNOWN_SERVER_ERROR, LOST]


@pytest.fixture(scope="module")
def brokers() -> Iterator[MockCluster]:
    with mock_cluster(len(BROKERS)) as mock:
        yield mock


@pytest.fixture
def mock(brokers: MockCluster) -> Iterator[MockCluster]:
    yield brokers
    brokers.recover()


@pytest.fixture(scope="module")
def names() -> Iterator[str]:
    return map("orders-{}".format, count())


@pytest.fixture
def topic(mock: MockCluster, names: Iterator[str]) -> str:
    name = next(names)
    mock.create(name, 1, leader=1)
    return name


def producer_of(mock: MockCluster, **keys: Any) -> Producer:
    return Producer(bootstrap_servers=mock.servers, **keys)


def consumer_of(mock: MockCluster, **keys: Any) -> Consumer:
    keys = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 100, **keys}
    return Consumer(bootstrap_servers=mock.servers, **keys)


def write(mock: MockCluster, topic: str, values: list[bytes]) -> None:
    with producer_of(mock) as producer:
        for future in [producer.send(topic, value) for value in values]:
            future.result(PATIENCE_S)


def read(consumer: Consumer, count: int) -> list[bytes]:
    """As many values, or a few more if there are."""
    found: list[bytes] = []

    def read_on() -> int:
        found.extend(each.value for each in consumer.poll(100))
        return len(found)

    wait_for(f"{count} records", read_on, lambda seen: seen >= count)
    return found


def read_all(mock: MockCluster, topic: str, count: int) -> list[bytes]:
    with consumer_of(mock) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        return read(consumer, count)


# The producer


@pytest.mark.parametrize("codec", list(Codec))
def test_records_of_every_codec_come_back(mock: MockCluster, topic: str, codec: Codec) -> None:
    with producer_of(mock, compression_type=codec, batch_size=300) as producer:
        for value in VALUES:
            producer.send(topic, value * 10)
    assert read_all(mock, topic, len(VALUES)) == [value * 10 for value in VALUES]


@pytest.mark.parametrize("error", PASSES)
def test_what_is_refused_for_a_while_is_written_in_order(
    mock: MockCluster, topic: str, error: int
) -> None:
    with producer_of(mock, batch_size=100, **IN_ORDER) as producer:
        producer.send(topic, VALUES[0]).result(PATIENCE_S)
        mock.refuse(ApiKey.PRODUCE, error, error)
        futures = [producer.send(topic, value) for value in VALUES[1:]]
        offsets = [future.result(PATIENCE_S).offset for future in futures]
    assert offsets == list(range(1, len(VALUES)))
    assert read_all(mock, topic, len(VALUES)) == VALUES


@pytest.mark.parametrize("error", FOR_GOOD)
def test_what_is_refused_for_good_is_told_and_the_next_is_written(
    mock: MockCluster, topic: str, error: ErrorCode
) -> None:
    with producer_of(mock) as producer:
        producer.send(topic, b"first").result(PATIENCE_S)
        mock.refuse(ApiKey.PRODUCE, error)
        with pytest.raises(DeliveryError, match=error.name) as refusal:
            producer.send(topic, b"refused").result(PATIENCE_S)
        assert not refusal.value.may_be_written
        producer.send(topic, b"next").result(PATIENCE_S)
    assert read_all(mock, topic, 2) == [b"first", b"next"]


def test_a_producer_and_a_consumer_follow_a_leader(mock: MockCluster, topic: str) -> None:
    with producer_of(mock) as producer, consumer_of(mock) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        for value, leader in zip(VALUES, BROKERS, strict=False):
            mock.lead(topic, 0, leader)
            producer.send(topic, value).result(PATIENCE_S)
            assert read(consumer, 1) == [value]


def test_a_slow_broker_is_waited_for(mock: MockCluster, topic: str) -> None:
    for broker in BROKERS:
        mock.slow_down(broker, 100)
    write(mock, topic, VALUES)
    assert read_all(mock, topic, len(VALUES)) == VALUES


# Transactions


def one_transaction(mock: MockCluster, producer: Producer, topic: str) -> None:
    """It begins with the producer's id, and commits a record and an offset."""
    offsets = {TopicPartition(topic, 0): OffsetAndMetadata(1)}
    with consumer_of(mock, group_id=topic) as consumer:
        producer.init_transactions()
        with producer.transaction():
            producer.send(topic, b"whole")
            producer.send_offsets_to_transaction(offsets, consumer.group_metadata())


STEPS = [
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.END_TXN,
]


@pytest.mark.parametrize("error", COORDINATOR_PASSES)
@pytest.mark.parametrize("step", STEPS)
def test_a_transaction_goes_through_what_passes(
    mock: MockCluster, topic: str, step: ApiKey, error: int
) -> None:
    mock.refuse(step, error, error)
    with producer_of(mock, transactional_id=topic) as producer:
        one_transaction(mock, producer, topic)


@pytest.mark.parametrize("step", STEPS)
def test_who_is_fenced_is_told(mock: MockCluster, topic: str, step: ApiKey) -> None:
    mock.refuse(step, ErrorCode.PRODUCER_FENCED)
    with producer_of(mock, transactional_id=topic) as producer, pytest.raises(ProducerFencedError):
        one_transaction(mock, producer, topic)


@pytest.mark.parametrize("error", [ErrorCode.INVALID_TXN_STATE, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_a_transaction_whose_record_is_refused_is_aborted_and_followed_by_the_next(
    mock: MockCluster, topic: str, error: ErrorCode
) -> None:
    with producer_of(mock, transactional_id=topic) as producer:
        producer.init_transactions()
        mock.refuse(ApiKey.PRODUCE, error)
        with pytest.raises(TransactionFailedError, match=error.name), producer.transaction():
            producer.send(topic, b"refused")
        with producer.transaction():
            producer.send(topic, b"next")


# The consumer


@pytest.mark.parametrize("error", FETCH_PASSES)
def test_what_a_fetch_is_refused_for_passes(mock: MockCluster, topic: str, error: int) -> None:
    write(mock, topic, VALUES)
    mock.refuse(ApiKey.FETCH, error, error)
    assert read_all(mock, topic, len(VALUES)) == VALUES


@pytest.mark.parametrize("error", COORDINATOR_PASSES)
@pytest.mark.parametrize("step", [ApiKey.OFFSET_FETCH, ApiKey.OFFSET_COMMIT, ApiKey.HEARTBEAT])
def test_a_member_goes_through_what_passes(
    mock: MockCluster, topic: str, step: ApiKey, error: int
) -> None:
    write(mock, topic, VALUES)
    mock.refuse(step, error, error)
    with consumer_of(mock, group_id=topic, heartbeat_interval_ms=50) as consumer:
        consumer.subscribe([topic])
        assert read(consumer, len(VALUES)) == VALUES
        consumer.commit()
        assert committed(consumer, topic) == len(VALUES)


def test_a_commit_in_a_rebalance_is_refused_until_it_is_over(mock: MockCluster, topic: str) -> None:
    write(mock, topic, VALUES)
    keys: dict[str, Any] = {"group_id": topic, "enable_auto_commit": False}
    with consumer_of(
        mock, **keys, partition_assignment_strategy=["cooperative-sticky"]
    ) as consumer:
        consumer.subscribe([topic])
        read(consumer, len(VALUES))
        mock.refuse(ApiKey.OFFSET_COMMIT, ErrorCode.REBALANCE_IN_PROGRESS)
        with pytest.raises(RebalanceInProgressError):
            consumer.commit()


def test_all_goes_on_where_a_leader_and_coordinator_dies(mock: MockCluster, topic: str) -> None:
    mock.coordinate("group", topic, 1)
    with producer_of(mock) as producer, consumer_of(mock, group_id=topic) as consumer:
        consumer.subscribe([topic])
        producer.send(topic, b"before").result(PATIENCE_S)
        assert read(consumer, 1) == [b"before"]
        mock.kill(1)
        consumer.poll(300)  # it is told of a leader that is none of the brokers
        mock.lead(topic, 0, 2)
        mock.coordinate("group", topic, 3)
        producer.send(topic, b"after").result(PATIENCE_S)
        assert read(consumer, 1) == [b"after"]
        consumer.commit()
        assert committed(consumer, topic) == 2


def test_a_leader_that_comes_back_is_found_again(mock: MockCluster, topic: str) -> None:
    with producer_of(mock) as producer, consumer_of(mock) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        producer.send(topic, b"before").result(PATIENCE_S)
        assert read(consumer, 1) == [b"before"]
        mock.kill(1)
        sent = producer.send(topic, b"after")
        assert not sent.done()
        mock.start(1)
        sent.result(PATIENCE_S)
        assert read(consumer, 1) == [b"after"]


def committed(consumer: Consumer, topic: str) -> int:
    place = TopicPartition(topic, 0)
    found = consumer.committed([place])[place]
    assert found is not None
    return found.offset


# Their twins on asyncio's loop


def test_clients_on_a_loop_go_through_the_same(mock: MockCluster, topic: str) -> None:
    servers = {"bootstrap.servers": mock.servers}
    for api in (ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT):
        mock.refuse(api, ErrorCode.REQUEST_TIMED_OUT, LOST)

    async def led() -> list[bytes]:
        async with AioProducer(servers | IN_ORDER) as producer:
            await asyncio.gather(*[await producer.send(topic, value) for value in VALUES])
        found: list[bytes] = []
        async with AioConsumer(servers, group_id=topic, auto_offset_reset="earliest") as consumer:
            await consumer.subscribe([topic])
            while len(found) < len(VALUES):
                found += [each.value for each in await consumer.poll(1_000)]
            await consumer.commit()
        return found

    assert asyncio.run(asyncio.wait_for(led(), PATIENCE_S)) == VALUES
