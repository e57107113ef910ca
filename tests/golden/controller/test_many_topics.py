"""Many topics at once: few requests of ZooKeeper, and no election that waits for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from logquake.controller.settings import ControllerSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
)
from logquake.zk.operations import Create, GetData, Multi, Operation, SetData
from logquake.zk.paths import path_of
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from logquake.zk.znodes.topics import TopicAssignment
from tests.golden.controller.world import World

TOPICS = [f"topic-{number:04}" for number in range(400)]


class Cluster:
    """Three brokers; the first is the controller, and what it asks of ZooKeeper is counted."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.answers: list[Any] = []
        for broker_id in (1, 2, 3):
            world.start(broker_id)
        self.asked: list[Operation[Any]] = []
        self._count(world.nodes[1].session)
        world.take_log()

    def create(self, *topics: str, partitions: int = 1, factor: int = 3) -> None:
        wanted = [
            CreatableTopic(name=each, num_partitions=partitions, replication_factor=factor)
            for each in topics
        ]
        request = CreateTopicsRequest(topics=wanted)
        self.world.active().create_topics(request, self.answers.append)

    def delete(self, *topics: str) -> None:
        request = DeleteTopicsRequest(topic_names=list(topics))
        self.world.active().delete_topics(request, self.answers.append)

    def settle(self) -> list[str]:
        self.world.settle()
        self.world.pass_time(1000)
        return self.world.take_log()

    def codes(self) -> Counter[int]:
        results = [
            result
            for answer in self.answers
            for result in (
                answer.topics if isinstance(answer, CreateTopicsResponse) else answer.responses
            )
        ]
        return Counter(result.error_code for result in results)

    def multis(self) -> list[Multi]:
        return [each for each in self.asked if isinstance(each, Multi)]

    def _count(self, session: Any) -> None:
        submit = session.submit

        def counted(operation: Operation[Any], done: Callable[[Any], None]) -> None:
            self.asked.append(operation)
            submit(operation, done)

        session.submit = counted


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    cluster = Cluster(World(ControllerSettings(auto_leader_rebalance_enable=False)))
    yield cluster
    for node in cluster.world.nodes.values():
        node.controller.close()


def test_many_topics_take_few_multis_to_create_and_to_delete(cluster: Cluster) -> None:
    cluster.create(*TOPICS)
    created = cluster.settle()
    assert sum("leader-elected" in line for line in created) == 400
    assert len(cluster.multis()) < 20
    cluster.asked.clear()
    cluster.delete(*TOPICS)
    deleted = cluster.settle()
    assert sum("topic-deleted" in line for line in deleted) == 400
    assert len(cluster.multis()) < 60
    assert cluster.codes() == {ErrorCode.NONE: 800}
    assert max(len(multi.operations) for multi in cluster.multis()) <= 501


def test_topics_created_one_by_one_are_read_once_each(cluster: Cluster) -> None:
    for topic in TOPICS[:200]:
        cluster.create(topic)
    cluster.settle()
    paths = Counter(path_of(each) for each in cluster.asked if not isinstance(each, Multi))
    assert {paths[TopicAssignment.path(topic)] for topic in TOPICS[:200]} == {2}  # there? and what
    assert paths["/brokers/topics"] <= 4, "the events of its watch are coalesced"


def test_a_broker_that_dies_is_not_waited_for_until_all_topics_are_there(cluster: Cluster) -> None:
    cluster.create("orders")
    cluster.settle()
    cluster.create(*TOPICS, factor=2)
    cluster.world.nodes[1].befall(TopicAssignment.path(TOPICS[99]), after=lambda: _kill(cluster, 3))
    log = cluster.settle()
    down = next(n for n, line in enumerate(log) if "broker-down" in line)
    last = next(n for n, line in enumerate(log) if f"topic-created {TOPICS[399]}" in line)
    assert down < last
    assert sum("leader-elected" in line for line in log if "new partition" in line) == 400
    assert cluster.codes() == {ErrorCode.NONE: 401}


def test_a_failover_reads_no_state_that_the_controller_knows(cluster: Cluster) -> None:
    cluster.create(*TOPICS)
    cluster.settle()
    cluster.asked.clear()
    _kill(cluster, 3)
    log = cluster.settle()
    states = [each for each in cluster.asked if path_of(each).endswith("/state")]
    assert not [each for each in states if isinstance(each, GetData)]
    assert len(cluster.multis()) < 10
    led = sum("leader-elected" in line for line in log)
    assert 0 < led < 400
    assert sum("isr-shrunk" in line for line in log) == 400 - led


def test_the_first_of_many_are_told_to_their_brokers_before_the_last_is_decided(
    cluster: Cluster,
) -> None:
    cluster.create(*TOPICS[:11], partitions=100)
    cluster.settle()
    _kill(cluster, 3)
    log = cluster.settle()
    told = [n for n, line in enumerate(log) if line.startswith("1 -> 2 LeaderAndIsr")]
    shrunk = [n for n, line in enumerate(log) if "isr-shrunk" in line]
    assert max(log[n].count(" epoch ") for n in told) == 1_000
    assert told[-2] < shrunk[-1] < told[-1]


def test_a_broker_that_moves_is_not_waited_for_until_all_topics_are_there(
    cluster: Cluster,
) -> None:
    cluster.create(*TOPICS)
    cluster.world.nodes[1].befall(TopicAssignment.path(TOPICS[99]), after=lambda: _move(cluster, 3))
    log = cluster.settle()
    moved = next(n for n, line in enumerate(log) if "broker-endpoints-changed" in line)
    last = next(n for n, line in enumerate(log) if f"topic-created {TOPICS[399]}" in line)
    assert moved < last


def test_a_broker_that_dies_amid_a_deletion_halts_the_rest_of_it_until_it_is_back(
    cluster: Cluster,
) -> None:
    cluster.create(*TOPICS[:300])
    cluster.settle()
    cluster.delete(*TOPICS[:300])
    mark = f"/brokers/topics/{TOPICS[0]}/partitions/0/state"
    cluster.world.nodes[1].befall(mark, after=lambda: _kill(cluster, 3))
    log = cluster.settle()
    assert sum("topic-deletion-halted" in line for line in log) >= 300
    assert not any("topic-deleted" in line for line in log)
    cluster.world.start(3)
    log = cluster.settle()
    assert sum("topic-deleted" in line for line in log) == 300


def test_a_replica_that_was_deleted_is_not_made_again_when_its_broker_registers_anew(
    cluster: Cluster,
) -> None:
    world = cluster.world
    cluster.create("orders")
    cluster.settle()
    world.silent.add(3)  # so that the deletion waits for it
    state = "/brokers/topics/orders/partitions/0/state"
    world.nodes[1].befall(state, before=lambda: cluster.create(*TOPICS, factor=1))
    session_id = world.nodes[2].model_session.session_id
    world.nodes[1].befall(
        TopicAssignment.path(TOPICS[199]), before=lambda: world.server.expire(session_id)
    )
    cluster.delete("orders")
    world.settle()
    world.silent.discard(3)
    world.pass_time(60_000)
    of_it = [line for line in world.take_log() if "orders-0" in line and "1 -> 2" in line]
    deleted = next(n for n, line in enumerate(of_it) if "StopReplica" in line and "delete" in line)
    assert not any("LeaderAndIsr" in line for line in of_it[deleted:])
    assert cluster.world.server.model.data(TopicAssignment.path("orders")) is None


def test_what_is_written_beneath_a_topic_amid_its_deletion_goes_with_it(cluster: Cluster) -> None:
    world = cluster.world
    cluster.create("orders")
    cluster.settle()
    path = TopicAssignment.path("orders")
    world.nodes[1].befall(path, before=lambda: world.write(Create(f"{path}/partitions/7")))
    cluster.delete("orders")
    cluster.settle()
    assert world.server.model.data(path) is None
    assert world.server.model.data(delete_topic_path("orders")) is None


def test_what_was_not_come_to_is_left_to_the_next_controller(cluster: Cluster) -> None:
    session = cluster.world.nodes[1].model_session
    cluster.world.nodes[1].befall(
        TopicAssignment.path(TOPICS[250]),
        before=lambda: cluster.world.server.expire(session.session_id),
    )
    cluster.create(*TOPICS)
    cluster.settle()
    assert cluster.codes() == {ErrorCode.NONE: 200, ErrorCode.NOT_CONTROLLER: 200}


def _kill(cluster: Cluster, broker_id: int) -> None:
    if broker_id in cluster.world.nodes:
        cluster.world.kill(broker_id)


def _move(cluster: Cluster, broker_id: int) -> None:
    moved = BrokerRegistration(broker_id, (ListenerEndpoint("elsewhere", 9092),), 0)
    cluster.world.write(SetData(BrokerRegistration.path(broker_id), moved.encode()))


def test_a_topic_is_never_told_of_with_some_of_its_partitions_alone(cluster: Cluster) -> None:
    """A producer would spread its keys over those."""
    cluster.create("orders", partitions=2_100)
    told = [line for line in cluster.settle() if "1 -> 2 UpdateMetadata" in line]
    assert {line.count("orders-") for line in told} == {2_100}
