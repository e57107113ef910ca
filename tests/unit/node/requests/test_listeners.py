"""A client is told the addresses of the listener that it came in by, and of no other."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.describe_cluster import DescribeCluster
from logquake.node.requests.metadata import Metadata
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from logquake.wire.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from logquake.wire.messages.metadata import (
    DescribeClusterRequest,
    MetadataRequest,
    MetadataRequestTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataEndpoint,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.unit.node.requests.lone_broker import LoneBroker

INSIDE, OUTSIDE = ListenerName("INSIDE"), ListenerName("OUTSIDE")
PORTS = {
    1: {INSIDE: 9092, OUTSIDE: 19092},
    2: {INSIDE: 9093, OUTSIDE: 19093},
    3: {INSIDE: 9094},
}
ONLY_INSIDE = 3
BY_TWO, BY_THREE, BY_NOBODY = "by-two", "by-three", "by-nobody"
DEAD = 7
LEADERS = {BY_TWO: 2, BY_THREE: ONLY_INSIDE, BY_NOBODY: DEAD}
TOPIC_IDS = {name: bytes(15) + bytes([at]) for at, name in enumerate(LEADERS, start=1)}

every_version = pytest.mark.parametrize("version", Metadata.versions)


@pytest.fixture
def properties() -> dict[str, str]:
    return {
        "listeners": "INSIDE://127.0.0.1:9092,OUTSIDE://127.0.0.1:19092",
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "inter.broker.listener.name": INSIDE,
    }


@pytest.fixture
def broker(broker: LoneBroker) -> LoneBroker:
    """Broker 1 knows of broker 2, which has both listeners, and 3, which has one."""
    broker.ask(
        UpdateMetadataRequest(
            controller_id=ONLY_INSIDE,
            controller_epoch=1,
            broker_epoch=-1,
            topic_states=[
                UpdateMetadataTopicState(
                    topic_name=name, topic_id=TOPIC_IDS[name], partition_states=[led_by(leader)]
                )
                for name, leader in LEADERS.items()
            ],
            live_brokers=[
                UpdateMetadataBroker(
                    id=broker_id,
                    endpoints=[
                        UpdateMetadataEndpoint(host="h", port=port, listener=listener)
                        for listener, port in ports.items()
                    ],
                    rack=None,
                )
                for broker_id, ports in PORTS.items()
            ],
        ),
        8,
    )
    return broker


def led_by(leader: int) -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        partition_index=0, leader=leader, leader_epoch=5, isr=[2, 3], replicas=[2, 3]
    )


def told_by(listener: ListenerName) -> list[tuple[int, int]]:
    return [(each, ports[listener]) for each, ports in PORTS.items() if listener in ports]


def partition_of(broker: LoneBroker, version: int, topic: str, listener: ListenerName) -> Any:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    (found,) = broker.ask(request, version, listener=listener).topics
    (partition,) = found.partitions
    return partition


@every_version
@pytest.mark.parametrize("listener", [INSIDE, OUTSIDE])
def test_metadata_names_the_brokers_of_the_listener(
    broker: LoneBroker, version: int, listener: ListenerName
) -> None:
    reply = broker.ask(MetadataRequest(topics=[]), version, listener=listener)
    assert [(node.node_id, node.port) for node in reply.brokers] == told_by(listener)
    assert reply.controller_id == (ONLY_INSIDE if version else -1)


@pytest.mark.parametrize("version", DescribeCluster.versions)
@pytest.mark.parametrize("listener", [INSIDE, OUTSIDE])
def test_describe_cluster_names_the_brokers_of_the_listener(
    broker: LoneBroker, version: int, listener: ListenerName
) -> None:
    reply = broker.ask(DescribeClusterRequest(), version, listener=listener)
    assert [(each.broker_id, each.port) for each in reply.brokers] == told_by(listener)
    assert reply.controller_id == (ONLY_INSIDE if listener == INSIDE else -1)


@every_version
def test_a_leader_that_the_listener_reaches(broker: LoneBroker, version: int) -> None:
    partition = partition_of(broker, version, BY_THREE, INSIDE)
    assert (partition.error_code, partition.leader_id) == (ErrorCode.NONE, 3)


@every_version
def test_a_leader_without_the_listener_is_no_leader(broker: LoneBroker, version: int) -> None:
    partition = partition_of(broker, version, BY_THREE, OUTSIDE)
    error = ErrorCode.LISTENER_NOT_FOUND if version >= 6 else ErrorCode.LEADER_NOT_AVAILABLE
    assert (partition.error_code, partition.leader_id) == (error, -1)
    assert partition.leader_epoch == (5 if version >= 7 else -1)


@every_version
@pytest.mark.parametrize("listener", [INSIDE, OUTSIDE])
def test_a_dead_leader_is_told_as_such(
    broker: LoneBroker, version: int, listener: ListenerName
) -> None:
    partition = partition_of(broker, version, BY_NOBODY, listener)
    assert (partition.error_code, partition.leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)


@every_version
def test_version_0_leaves_out_replicas_that_the_listener_does_not_reach(
    broker: LoneBroker, version: int
) -> None:
    partition = partition_of(broker, version, BY_TWO, OUTSIDE)
    if version == 0:
        assert partition.error_code == ErrorCode.REPLICA_NOT_AVAILABLE
        assert (partition.replica_nodes, partition.isr_nodes) == ([2], [2])
    else:
        assert partition.error_code == ErrorCode.NONE
        assert (partition.replica_nodes, partition.isr_nodes) == ([2, 3], [2, 3])


def make_follower(broker: LoneBroker, leader: int) -> None:
    """orders-0, which broker 1 leads, is led by another from now on."""
    partition = LeaderAndIsrPartitionState(
        partition_index=0,
        controller_epoch=1,
        leader=leader,
        leader_epoch=9,
        isr=[1, leader],
        partition_epoch=9,
        replicas=[1, leader],
    )
    topic = LeaderAndIsrTopicState(
        topic_name="orders", topic_id=broker.topic_id("orders"), partition_states=[partition]
    )
    request = LeaderAndIsrRequest(controller_id=1, controller_epoch=1, topic_states=[topic])
    assert broker.ask(request, 7).error_code == ErrorCode.NONE


@pytest.mark.parametrize(
    ("leader", "listener", "endpoints"),
    [(2, INSIDE, [(2, 9093)]), (2, OUTSIDE, [(2, 19093)]), (ONLY_INSIDE, OUTSIDE, [])],
)
class TestWhereTheLeaderIs:
    """KIP-951: the leader is named in any case, its address where the listener has one."""

    def test_of_a_produce_to_the_wrong_broker(
        self,
        broker: LoneBroker,
        batch: Any,
        leader: int,
        listener: ListenerName,
        endpoints: list[tuple[int, int]],
    ) -> None:
        make_follower(broker, leader)
        partition = PartitionProduceData(index=0, records=batch(b"x"))
        topic = TopicProduceData(name="orders", partition_data=[partition])
        request = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
        reply = broker.ask(request, 10, listener=listener)
        (answer,) = reply.responses[0].partition_responses
        assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (leader, 9)
        assert [(each.node_id, each.port) for each in reply.node_endpoints] == endpoints

    def test_of_a_fetch_from_the_wrong_broker(
        self,
        broker: LoneBroker,
        leader: int,
        listener: ListenerName,
        endpoints: list[tuple[int, int]],
    ) -> None:
        make_follower(broker, leader)
        partition = FetchPartition(
            partition=0, fetch_offset=0, current_leader_epoch=0, partition_max_bytes=1
        )
        topic = FetchTopic(topic_id=broker.topic_id("orders"), partitions=[partition])
        request = FetchRequest(max_bytes=1, topics=[topic])
        reply = broker.ask(request, 16, listener=listener)
        (answer,) = reply.responses[0].partitions
        assert answer.error_code == ErrorCode.FENCED_LEADER_EPOCH
        assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (leader, 9)
        assert [(each.node_id, each.port) for each in reply.node_endpoints] == endpoints
