"""The way to the controller follows /controller; what is asked is repeated until it answers."""

from __future__ import annotations

import pytest

from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from logquake.wire.schema import Message
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

ONE, TWO = Endpoint(1, "127.0.0.1", 9001), Endpoint(2, "127.0.0.1", 9002)


class Asking:
    """A link to whoever is in office, and the answers that came over it."""

    def __init__(self, network: ScriptedNetwork) -> None:
        self.in_office: Endpoint | None = ONE
        self.answers: list[object] = []
        self.link = ControllerLink(network, "3", lambda: self.in_office)

    def ask(self) -> None:
        channel = self.link.channel()
        assert channel is not None
        channel.send(AllocateProducerIdsRequest(), 0, self.answers.append)


def test_a_request_to_a_controller_that_was_replaced_ends_when_controller_changes(
    network: ScriptedNetwork,
) -> None:
    asking = Asking(network)
    asking.ask()
    asking.in_office = TWO
    asking.link.follow()
    assert [type(each) for each in asking.answers] == [Disconnected]
    asking.ask()
    assert [each.endpoint for each in network.sent] == [ONE, TWO]


def test_nothing_is_dropped_while_the_controller_stays(network: ScriptedNetwork) -> None:
    asking = Asking(network)
    asking.ask()
    asking.link.follow()
    asking.ask()
    assert asking.answers == []


def test_the_connection_goes_when_nobody_is_in_office(network: ScriptedNetwork) -> None:
    asking = Asking(network)
    asking.ask()
    asking.in_office = None
    asking.link.follow()
    assert [type(each) for each in asking.answers] == [Disconnected]
    assert asking.link.channel() is None


class Repeating:
    """What is asked until the controller answers: the broker epoch of each attempt, the answers."""

    def __init__(self, network: ScriptedNetwork, scheduler: ManualScheduler) -> None:
        self.in_office: Endpoint | None = ONE
        self.broker_epoch = 1
        self.answers: list[object] = []
        link = ControllerLink(network, "3", lambda: self.in_office)
        self.requests = ControllerRequests(link.channel, scheduler)

    def ask(self) -> None:
        self.requests.ask(
            lambda: AllocateProducerIdsRequest(broker_epoch=self.broker_epoch),
            0,
            self.answers.append,
        )


@pytest.fixture
def repeating(network: ScriptedNetwork, scheduler: ManualScheduler) -> Repeating:
    return Repeating(network, scheduler)


NO_ANSWERS: list[Message | Disconnected] = [
    Disconnected("lost"),
    AllocateProducerIdsResponse(error_code=ErrorCode.NOT_CONTROLLER),
    AlterPartitionResponse(
        topics=[
            AlterPartitionResponseTopicData(
                partitions=[
                    AlterPartitionResponsePartitionData(error_code=ErrorCode.NOT_CONTROLLER)
                ]
            )
        ]
    ),
]


@pytest.mark.parametrize("answer", NO_ANSWERS, ids=["lost", "not controller", "of a partition"])
def test_what_a_controller_did_not_answer_is_asked_of_the_next_one(
    repeating: Repeating,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    answer: Message | Disconnected,
) -> None:
    repeating.ask()
    repeating.in_office, repeating.broker_epoch = TWO, 2
    network.sent[0].done(answer)
    assert len(network.sent) == 1  # after a pause, or two brokers that are none would spin
    scheduler.advance(50)
    assert repeating.answers == []
    assert [each.endpoint for each in network.sent] == [ONE, TWO]
    assert network.sent[1].request == AllocateProducerIdsRequest(broker_epoch=2)


def test_another_error_is_an_answer(repeating: Repeating, network: ScriptedNetwork) -> None:
    refused = AllocateProducerIdsResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    repeating.ask()
    network.sent[0].done(refused)
    assert repeating.answers == [refused]


def test_a_controller_is_looked_for_until_one_is_known(
    repeating: Repeating, network: ScriptedNetwork, scheduler: ManualScheduler
) -> None:
    repeating.in_office = None
    repeating.ask()
    scheduler.advance(1_000)
    assert network.sent == []
    repeating.in_office = TWO
    scheduler.advance(100)
    assert [each.endpoint for each in network.sent] == [TWO]


def test_the_search_ends_when_its_time_is_up(
    repeating: Repeating, scheduler: ManualScheduler
) -> None:
    repeating.in_office = None
    found: list[Channel | None] = []
    repeating.requests.find(found.append, 250)
    scheduler.advance(250)
    assert found == []
    scheduler.advance(50)
    assert found == [None]
