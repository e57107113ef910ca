"""A term that ends before everything was read in answers nobody from what it has so far.

A leader that is told that its topic is not known waits for news of the controller, which the next
one has not: its ISR would stay as it is for ever.
"""

from __future__ import annotations

from logquake.controller.settings import ControllerSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    BrokerState,
)
from logquake.wire.sentinels import UNKNOWN_BROKER_EPOCH
from logquake.zk.operations import Create, SetData
from logquake.zk.znodes.control import CONTROLLER_EPOCH_PATH, CONTROLLER_PATH, ControllerEpoch
from logquake.zk.znodes.topics import TopicAssignment
from tests.golden.controller.world import Node, World

ORDERS_ID = bytes(range(16))


def test_a_deposed_one_whose_session_ends_as_it_looks_who_is_in_office_answers_nobody() -> None:
    world = World(ControllerSettings())
    for broker_id in (1, 2, 3):
        world.start(broker_id)
    world.write(_creation("orders", TopicAssignment(ORDERS_ID, {0: (2, 3)})))
    world.settle()
    answers: list[AlterPartitionResponse] = []
    world.nodes[3].paused = True  # else it is the next controller
    world.kill(1)
    world.write(_creation("without-an-id", TopicAssignment(None, {0: (2,)})))
    node = world.nodes[2]

    def depose() -> None:
        world.write(SetData(CONTROLLER_EPOCH_PATH, ControllerEpoch(9).encode()))
        node.befall(CONTROLLER_PATH, of_reads=True, after=node.model_session.disconnect)

    node.befall(TopicAssignment.path("without-an-id"), before=depose)
    world.settle()
    assert node.controller.is_active
    node.controller.alter_partition(_proposal(node), answers.append)
    world.server.expire(node.model_session.session_id)
    node.model_session.reconnect()
    world.settle()
    assert [answer.error_code for answer in answers] == [ErrorCode.NOT_CONTROLLER]


def _creation(topic: str, assignment: TopicAssignment) -> Create:
    return Create(TopicAssignment.path(topic), assignment.encode())


def _proposal(leader: Node) -> AlterPartitionRequest:
    """Its follower is to leave the ISR of orders-0."""
    alone = [BrokerState(broker_id=leader.broker_id, broker_epoch=UNKNOWN_BROKER_EPOCH)]
    partition = AlterPartitionRequestPartitionData(
        partition_index=0, leader_epoch=0, new_isr_with_epochs=alone, partition_epoch=0
    )
    return AlterPartitionRequest(
        broker_id=leader.broker_id,
        broker_epoch=leader.epoch,
        topics=[AlterPartitionRequestTopicData(topic_id=ORDERS_ID, partitions=[partition])],
    )
