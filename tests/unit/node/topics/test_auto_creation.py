"""Topics that nobody described: what the controller is asked for, and what the client is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.topics.auto_creation import (
    AutoCreationSettings,
    AutoTopicCreation,
    Told,
    TopicShape,
)
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import CreatableTopicResult, CreateTopicsResponse
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

CONTROLLER = Endpoint(1, "127.0.0.1", 9001)
SETTINGS = AutoCreationSettings(
    enabled=True,
    users=TopicShape(2, 3),
    internal={"__consumer_offsets": TopicShape(50, 1, {"cleanup.policy": "compact"})},
    max_wait_ms=1000,
)
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.fixture
def creation(network: ScriptedNetwork, scheduler: ManualScheduler) -> AutoTopicCreation:
    return creation_by(lambda: CONTROLLER, network, scheduler)


def creation_by(
    controller: Callable[[], Endpoint | None], network: ScriptedNetwork, scheduler: ManualScheduler
) -> AutoTopicCreation:
    link = ControllerLink(network, "2", controller)
    return AutoTopicCreation(SETTINGS, ControllerRequests(link.channel, scheduler), scheduler)


def nothing(_told: object) -> None: ...


def answer(**codes: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(name=name, error_code=code) for name, code in codes.items()]
    )


def test_a_users_topic_has_the_brokers_defaults(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    creation.create(["orders"], nothing, nothing)
    (topic,) = network.sent[0].request.topics
    assert (topic.name, topic.num_partitions, topic.replication_factor) == ("orders", 2, 3)
    assert topic.configs == []


def test_a_coordinators_topic_has_its_own(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    creation.create(["__consumer_offsets"], nothing, nothing)
    (topic,) = network.sent[0].request.topics
    assert (topic.num_partitions, topic.replication_factor) == (50, 1)
    assert [(each.name, each.value) for each in topic.configs] == [("cleanup.policy", "compact")]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (ErrorCode.REQUEST_TIMED_OUT, ErrorCode.LEADER_NOT_AVAILABLE),  # made, leaders to come
        (ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE),
        (ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.LEADER_NOT_AVAILABLE),
        (ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.INVALID_REPLICATION_FACTOR),
        (ErrorCode.INVALID_TOPIC_EXCEPTION, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (ErrorCode.NOT_CONTROLLER, UNKNOWN),
        (9999, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_the_controller_says_the_client_is_told(
    creation: AutoTopicCreation, network: ScriptedNetwork, said: int, told: ErrorCode
) -> None:
    got: list[Told] = []
    creation.create(["orders"], got.append, nothing)
    network.sent[0].done(answer(orders=said))
    assert got == [{"orders": told}]


def test_what_was_made_is_told_in_partitions(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    created: list[int] = []
    creation.create(["made", "there", "refused"], nothing, created.append)
    network.sent[0].done(
        answer(
            made=ErrorCode.REQUEST_TIMED_OUT,
            there=ErrorCode.TOPIC_ALREADY_EXISTS,
            refused=ErrorCode.INVALID_TOPIC_EXCEPTION,
        )
    )
    assert created == [2]


def test_several_topics_are_one_request(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    got: list[Told] = []
    creation.create(["a", "b"], got.append, nothing)
    (sent,) = network.sent
    sent.done(answer(a=ErrorCode.INVALID_TOPIC_EXCEPTION, b=ErrorCode.REQUEST_TIMED_OUT))
    assert got == [{"a": ErrorCode.INVALID_TOPIC_EXCEPTION, "b": ErrorCode.LEADER_NOT_AVAILABLE}]


def test_a_topic_under_way_is_not_asked_for_again(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    got: list[Told] = []
    creation.create(["a"], nothing, nothing)
    creation.create(["a"], got.append, nothing)
    assert got == [{"a": UNKNOWN}]
    creation.create(["a", "b"], got.append, nothing)
    assert [[topic.name for topic in sent.request.topics] for sent in network.sent] == [
        ["a"],
        ["b"],
    ]
    network.sent[0].done(answer(a=ErrorCode.INVALID_REPLICATION_FACTOR))
    creation.create(["a"], got.append, nothing)
    assert len(network.sent) == 3


def test_a_lost_connection_makes_the_client_ask_again(
    creation: AutoTopicCreation, network: ScriptedNetwork
) -> None:
    got: list[Told] = []
    creation.create(["a"], got.append, nothing)
    network.sent[0].done(Disconnected("gone"))
    assert got == [{"a": UNKNOWN}]
    creation.create(["a"], got.append, nothing)
    assert len(network.sent) == 2


def test_nobody_waits_for_a_controller_that_is_frozen(
    creation: AutoTopicCreation, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    got: list[Told] = []
    creation.create(["a"], got.append, nothing)
    scheduler.advance(1000)
    assert got == [{"a": UNKNOWN}]
    network.sent[0].done(answer(a=ErrorCode.REQUEST_TIMED_OUT))
    assert len(got) == 1


def test_a_controller_that_is_not_known_yet_is_waited_for(
    network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    known: list[Endpoint] = []
    creation = creation_by(lambda: known[0] if known else None, network, scheduler)
    got: list[Told] = []
    creation.create(["a"], got.append, nothing)
    scheduler.advance(SETTINGS.max_wait_ms // 2)
    assert (got, network.sent) == ([], [])
    known.append(CONTROLLER)
    scheduler.advance(SETTINGS.max_wait_ms // 4)
    network.sent[0].done(answer(a=ErrorCode.REQUEST_TIMED_OUT))
    assert got == [{"a": ErrorCode.LEADER_NOT_AVAILABLE}]


def test_without_a_controller_nothing_is_asked_in_the_end(
    network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    creation = creation_by(lambda: None, network, scheduler)
    got: list[Told] = []
    for _ in range(2):
        creation.create(["a"], got.append, nothing)
        scheduler.advance(SETTINGS.max_wait_ms)
    assert (got, network.sent) == ([{"a": UNKNOWN}] * 2, [])
