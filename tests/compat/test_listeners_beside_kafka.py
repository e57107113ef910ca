"""Ours and a Kafka 3.9 in one cluster tell the clients of a listener the same.

Both have the listener PLAINTEXT, by which brokers reach each other, and OUTSIDE; the brokers of the
launched cluster have the first alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.client.errors import ClientError
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ReplicaState,
)
from logquake.wire.messages.metadata import (
    DescribeClusterRequest,
    DescribeClusterResponse,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from tests.by_hand import broker_by_hand
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.sessions import LONG_MS
from tests.one_broker import OneBroker, held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

R = TypeVar("R", bound=Message)

TOPIC = "by-listener"
INSIDE, OUTSIDE = "PLAINTEXT", "OUTSIDE"
ONLY_INSIDE, OURS, KAFKA = 1, 7, 9
# By partition, the leader first.
ASSIGNMENT = [[ONLY_INSIDE, OURS, KAFKA], [OURS, KAFKA, ONLY_INSIDE], [KAFKA, OURS, ONLY_INSIDE]]
LED_BY_ONLY_INSIDE = 0


class Brokers:
    """Ours and Kafka, each by both listeners."""

    def __init__(self, ports: list[int]) -> None:
        places = product((OURS, KAFKA), (INSIDE, OUTSIDE))
        self._brokers = dict(zip(places, map(OneBroker, ports), strict=True))
        self.topic_id = b""

    def listeners_of(self, broker: int) -> dict[str, str]:
        return {
            "broker.id": str(broker),
            "listeners": ",".join(
                f"{name}://127.0.0.1:{self._brokers[broker, name].port}"
                for name in (INSIDE, OUTSIDE)
            ),
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OUTSIDE:PLAINTEXT",
            "inter.broker.listener.name": INSIDE,
        }

    def both(self, listener: str, request: Message, answer: type[R], version: int) -> tuple[R, R]:
        """What ours and what Kafka answers, in one order."""
        ours, kafkas = (
            in_order(self._brokers[broker, listener].ask(request, answer, version))
            for broker in (OURS, KAFKA)
        )
        return ours, kafkas

    def wait_to_know_all(self) -> None:
        """Until both have been told of every broker and every leader."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
        ours, _ = wait_for(
            "brokers that both know all of the cluster",
            lambda: self.both(INSIDE, request, MetadataResponse, 12),
            lambda answers: all(map(tells_all, answers)),
            unready=(ClientError,),
        )
        self.topic_id = ours.topics[0].topic_id


def tells_all(answer: MetadataResponse) -> bool:
    isrs = [sorted(partition.isr_nodes) for partition in answer.topics[0].partitions]
    return len(answer.brokers) == 5 and isrs == [sorted(replicas) for replicas in ASSIGNMENT]


def in_order(answer: R) -> R:
    """Kafka's maps have no order."""
    body: Any = answer
    for attribute, key in (
        ("brokers", lambda each: getattr(each, "node_id", None) or each.broker_id),
        ("topics", lambda each: each.name),
        ("node_endpoints", lambda each: each.node_id),
    ):
        getattr(body, attribute, []).sort(key=key)
    for topic in getattr(body, "topics", []):
        topic.partitions.sort(key=lambda each: each.partition_index)
    return answer


@pytest.fixture
def brokers(kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path) -> Iterator[Brokers]:
    with held_ports(4) as ports:
        brokers = Brokers(ports)
        common = {
            "zookeeper.connect": cluster.zookeeper_connect,
            "zookeeper.session.timeout.ms": LONG_MS,
        }
        ours = brokers.listeners_of(OURS) | common | {"log.dirs": tmp_path / "ours"}
        kafkas = brokers.listeners_of(KAFKA) | common | {"log.dirs": tmp_path / "kafkas"}
        with broker_by_hand(tmp_path, ours), kafka_programs.broker("broker-9", kafkas):
            wait_for("registrations", cluster.view.live_brokers, {OURS, KAFKA}.issubset)
            create_topic(cluster)
            brokers.wait_to_know_all()
            yield brokers


def create_topic(cluster: Cluster) -> None:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    new = NewTopic(TOPIC, len(ASSIGNMENT), replica_assignment=ASSIGNMENT)
    admin.create_topics([new])[TOPIC].result(PATIENCE_S)


def test_both_tell_the_same_by_each_listener(brokers: Brokers) -> None:
    """One start of Kafka serves all that is compared."""
    for listener in (INSIDE, OUTSIDE):
        for version in range(13):
            request = MetadataRequest(topics=[MetadataRequestTopic(name=TOPIC)])
            ours, kafkas = brokers.both(listener, request, MetadataResponse, version)
            assert ours == kafkas, (listener, version)
            assert len(ours.brokers) == (5 if listener == INSIDE else 2)
        for version in range(2):
            described = brokers.both(
                listener, DescribeClusterRequest(), DescribeClusterResponse, version
            )
            assert described[0] == described[1], (listener, version)
        endpoints = [ONLY_INSIDE] if listener == INSIDE else []
        produced = brokers.both(listener, misled_produce(), ProduceResponse, 11)
        assert produced[0] == produced[1], listener
        assert [node.node_id for node in produced[0].node_endpoints] == endpoints
        fetched = brokers.both(listener, misled_fetch(brokers.topic_id), FetchResponse, 17)
        assert fetched[0] == fetched[1], listener
        assert [node.node_id for node in fetched[0].node_endpoints] == endpoints
    (partition, *_) = ours.topics[0].partitions
    assert partition.error_code == ErrorCode.LISTENER_NOT_FOUND


def misled_produce() -> ProduceRequest:
    """To a broker that follows."""
    records = bytes(encode_batch([Record(0, 1_700_000_000_000, None, b"x")]))
    partition = PartitionProduceData(index=LED_BY_ONLY_INSIDE, records=records)
    topic = TopicProduceData(name=TOPIC, partition_data=[partition])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def misled_fetch(topic_id: bytes) -> FetchRequest:
    """From a follower, as only a leader is asked: by another replica."""
    partition = FetchPartition(partition=LED_BY_ONLY_INSIDE, fetch_offset=0, partition_max_bytes=1)
    return FetchRequest(
        replica_state=ReplicaState(replica_id=ONLY_INSIDE),
        max_bytes=1,
        topics=[FetchTopic(topic_id=topic_id, partitions=[partition])],
    )
