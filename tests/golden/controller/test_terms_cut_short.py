"""A term that ends before everything was read in answers nobody from what it has so far.

A leader that is told that its topic is not known waits for news of the controller, which the next
one has not: its ISR would stay as it is for ever.
"""

from __future__ import annotations

from collections.abc import Callable

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


class Candidate:
    """Broker 2 stands for the office that broker 1 left, and leads orders-0; broker 3 is paused."""

    def __init__(self) -> None:
        self.world = World(ControllerSettings())
        for broker_id in (1, 2, 3):
            self.world.start(broker_id)
        self.world.write(_creation("orders", TopicAssignment(ORDERS_ID, {0: (2, 3)})))
        self.world.settle()
        self.world.nodes[3].paused = True
        self.node = self.world.nodes[2]
        self.answers: list[AlterPartitionResponse] = []

    def stand(self, *, mishap: Callable[[], None]) -> None:
        """``mishap`` comes over it when the brokers are read in, and no topic yet."""
        self.world.kill(1)
        self.world.write(_creation("without-an-id", TopicAssignment(None, {0: (2,)})))
        self.node.befall(TopicAssignment.path("without-an-id"), before=mishap)
        self.world.settle()

    def move_epoch_on(self) -> None:
        self.world.write(SetData(CONTROLLER_EPOCH_PATH, ControllerEpoch(9).encode()))

    def ask(self) -> None:
        self.node.controller.alter_partition(_proposal(self.node), self.answers.append)

    @property
    def codes(self) -> list[int]:
        return [answer.error_code for answer in self.answers]


def test_a_deposed_one_whose_session_ends_as_it_looks_who_is_in_office_answers_nobody() -> None:
    candidate = Candidate()
    session = candidate.node.model_session

    def depose() -> None:
        candidate.move_epoch_on()
        candidate.node.befall(CONTROLLER_PATH, of_reads=True, after=session.disconnect)

    candidate.stand(mishap=depose)
    assert candidate.node.controller.is_active
    candidate.ask()
    candidate.world.server.expire(session.session_id)
    session.reconnect()
    candidate.world.settle()
    assert candidate.codes == [ErrorCode.NOT_CONTROLLER]


def test_one_whose_epoch_somebody_wrote_answers_nobody() -> None:
    """Kafka's stays in office, with what it has read in so far and without a write that is done."""
    candidate = Candidate()
    candidate.stand(mishap=candidate.move_epoch_on)
    candidate.ask()
    candidate.world.settle()
    assert candidate.codes == [ErrorCode.NOT_CONTROLLER]


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
