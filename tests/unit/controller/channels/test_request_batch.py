"""Requests to brokers: against frames of a Kafka 3.9.1 controller, and the rules of gathering."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import pytest

from logquake.controller.channels.request_batch import ControllerBrokerRequestBatch, Outgoing
from logquake.controller.channels.request_content import Sender
from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.rules.partitions import Assignment, LeaderAndIsr, Leadership
from logquake.wire.header import decode_request_header
from logquake.wire.listeners import PLAINTEXT, ListenerName
from logquake.wire.messages.leader_and_isr import LeaderAndIsrRequest
from logquake.wire.messages.stop_replica import StopReplicaRequest
from logquake.wire.messages.update_metadata import UpdateMetadataRequest
from logquake.wire.schema import Message, decode
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import decode_uuid
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint

# Frames without their length, of topics "orders" and "gone" on brokers 0, 1 and 2.
LEADER_AND_ISR = bytes.fromhex(
    "00040007000000020001300000000000000000000100000000000000390002076f726465727339f7ec0d64cc"
    "45a4ba9b1460fd0ba92203000000000000000100000002000000000400000002000000010000000000000000"
    "0400000002000000010000000001010100000000000100000001000000010000000004000000010000000000"
    "000002000000000400000001000000000000000201010100000003000000010a3132372e302e302e310000b3"
    "1f00000000020a3132372e302e302e3100008a810000"
)

UPDATE_METADATA = bytes.fromhex(
    "000600080000000200013000000000000000000001000000000000004802076f726465727339f7ec0d64cc45"
    "a4ba9b1460fd0ba9220300000000000000010000000200000000040000000200000001000000000000000004"
    "0000000200000001000000000100000000010000000100000001000000000400000001000000000000000200"
    "000000040000000100000000000000020100000400000000020000d8630a3132372e302e302e310a504c4149"
    "4e544558540000000000000000020200008a810a3132372e302e302e310a504c41494e544558540000000000"
    "00000001020000b31f0a3132372e302e302e310a504c41494e54455854000000000000"
)

STOP_REPLICA = bytes.fromhex(
    "000500040000000e0001300000000000000000000100000000000000390205676f6e650200000000fffffffe"
    "00000000"
)

M = TypeVar("M", bound=Message)

EXTERNAL = ListenerName("EXTERNAL")
SENDER = Sender(controller_id=0, controller_epoch=1, listener=PLAINTEXT)
ORDERS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
GONE = TopicPartition("gone", 0)
PORTS = {0: 55395, 1: 45855, 2: 35457}
EPOCHS = {0: 57, 1: 72, 2: 62}


def decoded(cls: type[M], frame: bytes) -> M:
    header, start = decode_request_header(memoryview(frame))
    return decode(cls, header.api_version, memoryview(frame), start)


def broker(broker_id: int, *listeners: ListenerName) -> LiveBroker:
    endpoints = tuple(
        ListenerEndpoint("127.0.0.1", PORTS[broker_id], listener)
        for listener in listeners or (PLAINTEXT,)
    )
    return LiveBroker(BrokerRegistration(broker_id, endpoints, 0), EPOCHS[broker_id])


@pytest.fixture
def context() -> ControllerContext:
    known = ControllerContext()
    known.brokers = {each: broker(each) for each in PORTS}
    known.add_topic("orders", decode_uuid("OffsDWTMRaS6mxRg_QupIg"))
    known.add_topic("gone", decode_uuid("SUoNpfmmSkedisw7wQd9rw"))
    _lead(known, ORDERS[0], (2, 1, 0))
    _lead(known, ORDERS[1], (1, 0, 2))
    _lead(known, GONE, (0, 1, 2))
    return known


def _lead(context: ControllerContext, partition: TopicPartition, replicas: tuple[int, ...]) -> None:
    context.assign(partition, Assignment(replicas))
    context.take_in(partition, Leadership(LeaderAndIsr(replicas[0], 0, replicas, 0), 1))


def sent(batch: ControllerBrokerRequestBatch, broker_id: int) -> list[Message]:
    return [each.request for each in batch.build(SENDER) if each.broker_id == broker_id]


def kinds(requests: Iterable[Outgoing]) -> list[tuple[str, int, int]]:
    return [(type(each.request).__name__, each.version, each.broker_id) for each in requests]


def test_new_partitions_are_announced_as_kafka_does(context: ControllerContext) -> None:
    batch = ControllerBrokerRequestBatch(context)
    for partition in ORDERS:
        batch.lead_or_follow(context.assignment(partition).replicas, partition, is_new=True)

    (leader_and_isr, _) = sent(batch, 0)
    assert leader_and_isr == decoded(LeaderAndIsrRequest, LEADER_AND_ISR)
    (_, update_metadata) = sent(batch, 1)
    expected = decoded(UpdateMetadataRequest, UPDATE_METADATA)
    expected.live_brokers.sort(key=lambda each: each.id)  # Kafka has them in hash order
    assert update_metadata == expected


def test_stop_during_deletion_has_an_epoch_past_all_others(context: ControllerContext) -> None:
    context.topics_to_delete.add("gone")
    batch = ControllerBrokerRequestBatch(context)
    batch.stop(0, GONE, delete=False)
    assert sent(batch, 0) == [decoded(StopReplicaRequest, STOP_REPLICA)]


def test_requests_leave_by_kind_and_broker(context: ControllerContext) -> None:
    batch = ControllerBrokerRequestBatch(context)
    batch.stop(0, GONE, delete=False)
    batch.lead_or_follow([2, 0], ORDERS[0])
    assert kinds(batch.build(SENDER)) == [
        ("LeaderAndIsrRequest", 7, 0),
        ("LeaderAndIsrRequest", 7, 2),
        ("UpdateMetadataRequest", 8, 0),
        ("UpdateMetadataRequest", 8, 1),
        ("UpdateMetadataRequest", 8, 2),
        ("StopReplicaRequest", 4, 0),
    ]


def test_nothing_is_built_for_brokers_that_are_gone(context: ControllerContext) -> None:
    del context.brokers[2]
    batch = ControllerBrokerRequestBatch(context)
    batch.lead_or_follow([2], ORDERS[0])
    batch.stop(2, GONE, delete=True)
    batch.inform([2])
    assert sent(batch, 2) == []


def test_a_partition_stays_new_and_a_stop_stays_a_deletion(context: ControllerContext) -> None:
    batch = ControllerBrokerRequestBatch(context)
    batch.lead_or_follow([0], ORDERS[0], is_new=True)
    batch.lead_or_follow([0], ORDERS[0])
    batch.stop(0, GONE, delete=True)
    batch.stop(0, GONE, delete=False)
    leader_and_isr, _, stop = sent(batch, 0)
    assert isinstance(leader_and_isr, LeaderAndIsrRequest)
    assert leader_and_isr.topic_states[0].partition_states[0].is_new
    assert isinstance(stop, StopReplicaRequest)
    assert stop.topic_states[0].partition_states[0].delete_partition


def test_deleted_topics_have_no_leader_and_offline_replicas_are_named(
    context: ControllerContext,
) -> None:
    context.topics_to_delete.add("gone")
    context.shutting_down.add(1)
    batch = ControllerBrokerRequestBatch(context)
    batch.inform([0], [GONE])
    (request,) = sent(batch, 0)
    assert isinstance(request, UpdateMetadataRequest)
    (state,) = request.topic_states[0].partition_states
    assert (state.leader, state.leader_epoch, state.isr) == (-2, 0, [0, 1, 2])
    assert state.offline_replicas == [1]


def test_every_listener_is_told_but_leaders_by_the_one_between_brokers(
    context: ControllerContext,
) -> None:
    context.brokers[2] = broker(2, PLAINTEXT, EXTERNAL)
    context.brokers[1] = broker(1, EXTERNAL)
    batch = ControllerBrokerRequestBatch(context)
    batch.lead_or_follow([0], ORDERS[0])
    batch.lead_or_follow([0], ORDERS[1])
    leader_and_isr, update = sent(batch, 0)
    assert isinstance(leader_and_isr, LeaderAndIsrRequest)
    assert [each.broker_id for each in leader_and_isr.live_leaders] == [2]
    assert isinstance(update, UpdateMetadataRequest)
    told = {each.id: [one.listener for one in each.endpoints] for each in update.live_brokers}
    assert told == {0: ["PLAINTEXT"], 1: ["EXTERNAL"], 2: ["PLAINTEXT", "EXTERNAL"]}


def test_partitions_without_a_state_are_left_out(context: ControllerContext) -> None:
    unled = TopicPartition("orders", 2)
    context.assign(unled, Assignment((0, 1, 2)))
    batch = ControllerBrokerRequestBatch(context)
    batch.inform([0], [unled])
    (request,) = sent(batch, 0)
    assert isinstance(request, UpdateMetadataRequest)
    assert request.topic_states == []
