"""Topics and the cluster, as an administrator asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.client.errors import BrokerError, RequestTimedOutError
from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopicResult,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsResponse,
)
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, FakeTopology


def creating(code: ErrorCode, message: str | None = None) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(
                name="t", topic_id=bytes(16), error_code=code, error_message=message, configs=[]
            )
        ]
    )


def test_the_cluster_is_described(router: Router) -> None:
    described = Admin(router).describe_cluster()
    assert (described.cluster_id, described.controller_id) == ("fake", 1)
    assert [(b.broker_id, b.host, b.rack) for b in described.brokers] == [
        (1, "one", None),
        (2, "two", "r2"),
    ]


def test_topics_are_described_with_their_replicas(router: Router) -> None:
    (topic,) = Admin(router).describe_topics()
    assert (topic.name, topic.topic_id) == ("t", bytes(range(16)))
    assert [(p.index, p.leader, p.leader_epoch) for p in topic.partitions] == [(0, 1, 5), (1, 2, 7)]
    assert topic.partitions[0].replicas == (1, 2)
    assert topic.partitions[0].isr == (2,)


def test_an_unknown_topic_is_not_waited_for(router: Router, clock: FakeClock) -> None:
    started = clock.now
    with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION: topic nope"):
        Admin(router).describe_topics(["nope"])
    assert clock.now == started


def test_creation_goes_to_the_controller_and_follows_it(
    router: Router, network: FakeNetwork, topology: FakeTopology
) -> None:
    asked: list[str] = []

    def create(_request: Any, address: Any) -> CreateTopicsResponse:
        asked.append(address.host)
        if address.host == "one":
            topology.controller_id = 2
            return creating(ErrorCode.NOT_CONTROLLER)
        return creating(ErrorCode.NONE)

    network.handlers[ApiKey.CREATE_TOPICS] = create
    Admin(router).create_topic(
        "t", partitions=3, replication_factor=2, configs={"b": "2", "a": "1"}
    )
    assert asked == ["one", "two"]
    (topic,) = network.requests[ApiKey.CREATE_TOPICS][-1].topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("t", 3, 2)
    assert [(config.name, config.value) for config in topic.configs] == [("a", "1"), ("b", "2")]


def test_assignments_replace_the_two_numbers(router: Router, network: FakeNetwork) -> None:
    network.handlers[ApiKey.CREATE_TOPICS] = lambda *_: creating(ErrorCode.NONE)
    Admin(router).create_topic("t", assignments=[[1, 2], [2, 1]])
    (topic,) = network.requests[ApiKey.CREATE_TOPICS][-1].topics
    assert (topic.num_partitions, topic.replication_factor) == (-1, -1)
    assert [one.broker_ids for one in topic.assignments] == [[1, 2], [2, 1]]


def test_a_refused_creation_carries_kafkas_error_and_message(
    router: Router, network: FakeNetwork
) -> None:
    network.handlers[ApiKey.CREATE_TOPICS] = lambda *_: creating(
        ErrorCode.TOPIC_ALREADY_EXISTS, "Topic 't' already exists."
    )
    with pytest.raises(BrokerError, match="TOPIC_ALREADY_EXISTS: topic t: Topic 't'") as error:
        Admin(router).create_topic("t")
    assert error.value.code is ErrorCode.TOPIC_ALREADY_EXISTS


def test_a_creation_is_waited_for_as_long_as_the_broker_may_take(
    router: Router, network: FakeNetwork, clock: FakeClock
) -> None:
    """Asked again meanwhile, it would say that the topic exists."""
    network.handlers[ApiKey.CREATE_TOPICS] = lambda *_: None
    started = clock.now
    with pytest.raises(RequestTimedOutError):
        Admin(router).create_topic("t", timeout_ms=20_000)
    assert clock.now - started > 20_000
    assert len(network.requests[ApiKey.CREATE_TOPICS]) == 1


def test_deleting_names_the_topic_and_a_missing_one_is_not_waited_for(
    router: Router, network: FakeNetwork, clock: FakeClock
) -> None:
    codes = [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    network.handlers[ApiKey.DELETE_TOPICS] = lambda *_: DeleteTopicsResponse(
        responses=[DeletableTopicResult(name="t", topic_id=bytes(16), error_code=codes.pop(0))]
    )
    Admin(router).delete_topic("t")
    assert network.requests[ApiKey.DELETE_TOPICS][-1].topics[0].name == "t"
    started = clock.now
    with pytest.raises(BrokerError, match="UNKNOWN_TOPIC_OR_PARTITION"):
        Admin(router).delete_topic("t")
    assert clock.now == started
