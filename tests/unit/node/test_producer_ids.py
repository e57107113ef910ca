"""Producer ids come from the controller's blocks, none of them twice."""

from __future__ import annotations

from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.producer_ids import ProducerIds
from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import AllocateProducerIdsResponse
from tests.doubles.network import ScriptedNetwork
from tests.doubles.scheduler import ManualScheduler

CONTROLLER = Endpoint(1, "127.0.0.1", 9001)


def make(scheduler: ManualScheduler, network: ScriptedNetwork) -> ProducerIds:
    link = ControllerLink(network, "broker-2", lambda: CONTROLLER)
    requests = ControllerRequests(link.channel, scheduler)
    return ProducerIds(2, lambda: 57, requests, scheduler, timeout_ms=1000)


def test_one_request_serves_all_who_wait(
    scheduler: ManualScheduler, network: ScriptedNetwork
) -> None:
    ids = make(scheduler, network)
    got: list[int | None] = []
    for _ in range(3):
        ids.next(got.append)
    (sent,) = network.sent
    assert (sent.request.broker_id, sent.request.broker_epoch) == (2, 57)
    sent.done(AllocateProducerIdsResponse(producer_id_start=1000, producer_id_len=1000))
    ids.next(got.append)
    assert got == [1000, 1001, 1002, 1003]


def test_an_exhausted_block_is_followed_by_the_next(
    scheduler: ManualScheduler, network: ScriptedNetwork
) -> None:
    ids = make(scheduler, network)
    got: list[int | None] = []
    for _ in range(3):
        ids.next(got.append)
    network.sent[0].done(AllocateProducerIdsResponse(producer_id_start=0, producer_id_len=2))
    network.sent[1].done(AllocateProducerIdsResponse(producer_id_start=2000, producer_id_len=2))
    assert got == [0, 1, 2000]


def test_a_failed_request_is_sent_again(
    scheduler: ManualScheduler, network: ScriptedNetwork
) -> None:
    ids = make(scheduler, network)
    got: list[int | None] = []
    ids.next(got.append)
    network.sent[0].done(AllocateProducerIdsResponse(error_code=ErrorCode.NOT_CONTROLLER))
    scheduler.advance(50)
    network.sent[1].done(Disconnected("gone"))
    scheduler.advance(50)
    network.sent[2].done(AllocateProducerIdsResponse(producer_id_start=7, producer_id_len=1))
    assert got == [7]


def test_waiting_ends_without_an_id(scheduler: ManualScheduler, network: ScriptedNetwork) -> None:
    ids = make(scheduler, network)
    got: list[int | None] = []
    ids.next(got.append)
    scheduler.advance(1000)
    assert got == [None]
    network.sent[0].done(AllocateProducerIdsResponse(producer_id_start=7, producer_id_len=1))
    ids.next(got.append)
    assert got == [None, 7]
