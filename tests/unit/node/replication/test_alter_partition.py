"""One request in flight to the controller, with all that is pending."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.controller_link import ControllerRequests
from logquake.node.replication.partition.alter_partition import (
    AT_A_TIME,
    AlterPartitionManager,
    IsrMember,
    IsrOutcome,
    IsrProposal,
    NewIsr,
)
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

TOPIC_ID = b"orders".ljust(16, b"-")
RETRY_MS = 50


class Controller:
    """Where the controller is, if anywhere."""

    def __init__(self, network: ScriptedNetwork) -> None:
        self._network = network
        self.is_known = True

    def channel(self) -> Channel | None:
        return self._network.channel(Endpoint(9, "c", 1), "c") if self.is_known else None


@pytest.fixture
def controller(network: ScriptedNetwork) -> Controller:
    return Controller(network)


@pytest.fixture
def manager(controller: Controller, scheduler: ManualScheduler) -> AlterPartitionManager:
    requests = ControllerRequests(controller.channel, scheduler)
    return AlterPartitionManager(1, lambda: 50, requests, scheduler, retry_ms=RETRY_MS)


@pytest.fixture
def outcomes() -> list[tuple[int, IsrOutcome]]:
    return []


def proposal(outcomes: list[tuple[int, IsrOutcome]], index: int) -> IsrProposal:
    members = (IsrMember(1, -1), IsrMember(2, 70))
    return IsrProposal(
        "orders", index, TOPIC_ID, 4, 6, members, lambda o: outcomes.append((index, o))
    )


def asked(network: ScriptedNetwork) -> list[list[int]]:
    """The partitions of each request sent."""
    return [
        [each.partition_index for topic in sent.request.topics for each in topic.partitions]
        for sent in network.sent
    ]


def answer(
    network: ScriptedNetwork, *indexes: int, error: int = 0, isr: tuple[int, ...] = (1, 2)
) -> None:
    partitions = [
        AlterPartitionResponsePartitionData(
            partition_index=index,
            error_code=error,
            leader_id=1,
            leader_epoch=4,
            isr=list(isr),
            partition_epoch=7,
        )
        for index in indexes
    ]
    topic = AlterPartitionResponseTopicData(topic_id=TOPIC_ID, partitions=partitions)
    network.sent[-1].done(AlterPartitionResponse(topics=[topic]))


def test_a_request_says_all_that_the_controller_checks(
    manager: AlterPartitionManager, network: ScriptedNetwork, outcomes: list[tuple[int, IsrOutcome]]
) -> None:
    manager.submit(proposal(outcomes, 0))
    (sent,) = network.sent
    (partition,) = sent.request.topics[0].partitions
    assert (sent.version, sent.request.broker_id, sent.request.broker_epoch) == (3, 1, 50)
    assert (partition.leader_epoch, partition.partition_epoch) == (4, 6)
    members = [(m.broker_id, m.broker_epoch) for m in partition.new_isr_with_epochs]
    assert members == [(1, -1), (2, 70)]
    answer(network, 0)
    assert outcomes == [(0, NewIsr(4, 7, (1, 2)))]


def test_what_comes_up_meanwhile_goes_together(
    manager: AlterPartitionManager, network: ScriptedNetwork, outcomes: list[tuple[int, IsrOutcome]]
) -> None:
    for index in range(4):
        manager.submit(proposal(outcomes, index))
    assert asked(network) == [[0]]
    answer(network, 0)
    assert asked(network) == [[0], [1, 2, 3]]


def test_thousands_are_some_requests(
    manager: AlterPartitionManager, network: ScriptedNetwork, outcomes: list[tuple[int, IsrOutcome]]
) -> None:
    for index in range(1 + AT_A_TIME + 100):
        manager.submit(proposal(outcomes, index))
    answer(network, 0)
    answer(network, *asked(network)[-1])
    assert [len(each) for each in asked(network)] == [1, AT_A_TIME, 100]
    answer(network, *asked(network)[-1])
    assert [index for index, _ in outcomes] == list(range(1 + AT_A_TIME + 100))


def test_what_gets_no_answer_does_not_keep_others_waiting(
    manager: AlterPartitionManager,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    outcomes: list[tuple[int, IsrOutcome]],
) -> None:
    for index in range(1 + AT_A_TIME + 100):
        manager.submit(proposal(outcomes, index))
    answer(network, 0)
    answer(network)
    scheduler.advance(RETRY_MS)
    assert asked(network)[-1][:100] == list(range(1 + AT_A_TIME, 1 + AT_A_TIME + 100))


@pytest.mark.parametrize(
    "failure",
    [Disconnected("lost"), AlterPartitionResponse(error_code=ErrorCode.NOT_CONTROLLER)],
    ids=["no answer", "refused as a whole"],
)
def test_a_failed_request_is_repeated_after_a_pause(
    manager: AlterPartitionManager,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    outcomes: list[tuple[int, IsrOutcome]],
    failure: Any,
) -> None:
    manager.submit(proposal(outcomes, 0))
    network.sent[-1].done(failure)
    manager.submit(proposal(outcomes, 1))
    scheduler.advance(RETRY_MS - 1)
    assert asked(network) == [[0]]
    scheduler.advance(1)
    assert asked(network) == [[0], [0, 1]]
    assert outcomes == []


def test_without_a_controller_it_waits_for_one(
    manager: AlterPartitionManager,
    controller: Controller,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    outcomes: list[tuple[int, IsrOutcome]],
) -> None:
    controller.is_known = False
    manager.submit(proposal(outcomes, 0))
    scheduler.advance(3 * RETRY_MS)
    assert network.sent == []
    controller.is_known = True
    scheduler.advance(RETRY_MS)
    assert asked(network) == [[0]]


def test_one_proposal_a_partition(
    manager: AlterPartitionManager, outcomes: list[tuple[int, IsrOutcome]]
) -> None:
    manager.submit(proposal(outcomes, 0))
    manager.submit(proposal(outcomes, 0))
    assert outcomes == [(0, ErrorCode.OPERATION_NOT_ATTEMPTED)]


def test_a_partition_left_out_of_the_answer_is_asked_again_after_a_pause(
    manager: AlterPartitionManager,
    network: ScriptedNetwork,
    scheduler: ManualScheduler,
    outcomes: list[tuple[int, IsrOutcome]],
) -> None:
    manager.submit(proposal(outcomes, 0))
    answer(network)
    assert asked(network) == [[0]]
    scheduler.advance(RETRY_MS)
    assert asked(network) == [[0], [0]]


def test_an_unknown_error_code_is_handed_on_as_it_came(
    manager: AlterPartitionManager, network: ScriptedNetwork, outcomes: list[tuple[int, IsrOutcome]]
) -> None:
    manager.submit(proposal(outcomes, 0))
    answer(network, 0, error=9_999)
    assert outcomes == [(0, 9_999)]
