"""CreateTopics and DeleteTopics, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.create_topics import CreateTopics
from logquake.node.requests.delete_topics import DeleteTopics
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import MetadataRequest
from logquake.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from logquake.wire.uuids import ZERO_UUID
from tests.unit.node.requests.lone_broker import LoneBroker

create_versions = pytest.mark.parametrize("version", CreateTopics.versions)
delete_versions = pytest.mark.parametrize("version", DeleteTopics.versions)


def topic(name: str = "fresh", partitions: int = 2, factor: int = 1, **rest: Any) -> CreatableTopic:
    return CreatableTopic(name=name, num_partitions=partitions, replication_factor=factor, **rest)


def create(*topics: CreatableTopic, timeout_ms: int = 5000, **rest: Any) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), timeout_ms=timeout_ms, **rest)


def placed(broker_ids: list[int], partitions: int = -1) -> CreatableTopic:
    """With one partition, on these brokers."""
    assignment = CreatableReplicaAssignment(partition_index=0, broker_ids=broker_ids)
    return topic(partitions=partitions, factor=-1, assignments=[assignment])


def configured(key: str, value: str | None) -> CreatableTopic:
    return topic(configs=[CreatableTopicConfig(name=key, value=value)])


def names(broker: LoneBroker) -> set[str]:
    return {topic.name for topic in broker.ask(MetadataRequest(topics=None), 12).topics}


@create_versions
def test_a_topic_is_made_and_led(broker: LoneBroker, version: int) -> None:
    (result,) = broker.ask(create(topic()), version).topics
    assert (result.name, result.error_code) == ("fresh", 0)
    assert result.error_message == (None if version >= 1 else "")
    made = (result.num_partitions, result.replication_factor)
    assert made == ((2, 1) if version >= 5 else (-1, -1))
    expected_id = broker.topic_id("fresh") if version >= 7 else ZERO_UUID
    assert result.topic_id == expected_id


@pytest.mark.parametrize("version", range(1, 8))
def test_validation_makes_nothing(broker: LoneBroker, version: int) -> None:
    good, bad = broker.ask(create(topic(), topic("a b"), validate_only=True), version).topics
    assert (good.error_code, bad.error_code) == (0, ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert "fresh" not in names(broker)


@create_versions
@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (topic("orders"), ErrorCode.TOPIC_ALREADY_EXISTS),
        (topic(""), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(".."), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic("x" * 250), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (topic(partitions=0), ErrorCode.INVALID_PARTITIONS),
        (topic(partitions=-2), ErrorCode.INVALID_PARTITIONS),
        (topic(partitions=2**31 - 1), ErrorCode.POLICY_VIOLATION),
        (topic(factor=0), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(factor=-2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (topic(factor=2), ErrorCode.INVALID_REPLICATION_FACTOR),
        (placed([1], partitions=1), ErrorCode.INVALID_REQUEST),
        (placed([]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (placed([1, 1]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (configured("no.such.key", "1"), ErrorCode.INVALID_CONFIG),
        (configured("segment.bytes", "x"), ErrorCode.INVALID_CONFIG),
        (topic("__cluster_metadata"), ErrorCode.INVALID_REQUEST),
    ],
    ids=lambda value: value.name if isinstance(value, ErrorCode) else "",
)
def test_what_cannot_be_made(
    broker: LoneBroker, version: int, wanted: CreatableTopic, error: ErrorCode
) -> None:
    before = names(broker)
    (result,) = broker.ask(create(wanted), version).topics
    assert (result.name, result.error_code) == (wanted.name, error)
    assert (result.num_partitions, result.topic_id) == (-1, ZERO_UUID)
    assert names(broker) == before


@create_versions
def test_a_topic_named_twice_is_refused_twice(broker: LoneBroker, version: int) -> None:
    results = broker.ask(create(topic(), topic("other"), topic()), version).topics
    assert [(each.name, each.error_code) for each in results] == [
        ("fresh", ErrorCode.INVALID_REQUEST),
        ("other", ErrorCode.NONE),
        ("fresh", ErrorCode.INVALID_REQUEST),
    ]
    assert "fresh" not in names(broker)


@create_versions
def test_names_that_metrics_would_confuse_collide(broker: LoneBroker, version: int) -> None:
    first, second = (broker.ask(create(topic(name)), version).topics[0] for name in ("a.b", "a_b"))
    assert (first.error_code, second.error_code) == (0, ErrorCode.INVALID_TOPIC_EXCEPTION)


@pytest.mark.parametrize("version", range(4, 8))
def test_the_broker_may_choose_the_counts(broker: LoneBroker, version: int) -> None:
    (result,) = broker.ask(create(topic(partitions=-1, factor=-1)), version).topics
    assert result.error_code == ErrorCode.NONE


@create_versions
@pytest.mark.parametrize("timeout_ms", [0, -1, -(2**31)])
def test_without_time_the_topic_is_made_all_the_same(
    broker: LoneBroker, version: int, timeout_ms: int
) -> None:
    (result,) = broker.ask(create(topic(), timeout_ms=timeout_ms), version).topics
    assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
    broker.settle()
    assert "fresh" in names(broker)


@create_versions
def test_nothing_to_create(broker: LoneBroker, version: int) -> None:
    assert broker.ask(create(), version).topics == []


def delete(version: int, *wanted: str, timeout_ms: int = 5000) -> DeleteTopicsRequest:
    if version >= 6:
        topics = [DeleteTopicState(name=name) for name in wanted]
        return DeleteTopicsRequest(topics=topics, timeout_ms=timeout_ms)
    return DeleteTopicsRequest(topic_names=list(wanted), timeout_ms=timeout_ms)


@delete_versions
def test_a_deleted_topic_is_gone(broker: LoneBroker, version: int) -> None:
    results = broker.ask(delete(version, "orders", "nowhere"), version).responses
    assert {(each.name, each.error_code) for each in results} == {
        ("orders", ErrorCode.NONE),
        ("nowhere", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    }
    assert "orders" not in names(broker)


@delete_versions
def test_a_topic_is_unknown_as_soon_as_clients_are_not_told_of_it(
    broker: LoneBroker, version: int
) -> None:
    """The controller goes on deleting for a while after that."""
    outcomes: list[Any] = []
    broker.serve(delete(version, "orders"), version, outcomes.append)
    while not outcomes:
        broker.step()
    (again,) = broker.ask(delete(version, "orders"), version).responses
    assert again.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@delete_versions
def test_a_deleted_topic_can_be_made_again_with_another_id(
    broker: LoneBroker, version: int
) -> None:
    before = broker.topic_id("orders")
    broker.ask(delete(version, "orders"), version)
    broker.settle()
    broker.scheduler.advance(10)  # a worker thread makes the deletion last
    broker.settle()
    assert broker.create_topic("orders") != before


@delete_versions
@pytest.mark.parametrize("timeout_ms", [0, -1])
def test_without_time_the_topic_goes_all_the_same(
    broker: LoneBroker, version: int, timeout_ms: int
) -> None:
    (result,) = broker.ask(delete(version, "orders", timeout_ms=timeout_ms), version).responses
    assert result.error_code == ErrorCode.REQUEST_TIMED_OUT
    broker.settle()
    assert "orders" not in names(broker)


@delete_versions
def test_nothing_to_delete(broker: LoneBroker, version: int) -> None:
    assert broker.ask(delete(version), version).responses == []


def test_topics_go_by_id(broker: LoneBroker) -> None:
    orders = broker.topic_id("orders")
    wanted = [
        DeleteTopicState(topic_id=orders),
        DeleteTopicState(topic_id=b"\x09" * 16),
        DeleteTopicState(name="orders", topic_id=orders),
        DeleteTopicState(),
    ]
    request = DeleteTopicsRequest(topics=wanted, timeout_ms=5000)
    results = broker.ask(request, 6).responses
    assert [(each.name, each.error_code) for each in results] == [
        ("orders", ErrorCode.NONE),
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
        ("orders", ErrorCode.INVALID_REQUEST),
        (None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
