"""A Kafka 3.9 that forwards what its clients ask of the controller, while ours is controller.

It does so in ZooKeeper mode with zookeeper.metadata.migration.enable, and wants to know of a quorum
of KRaft then: one that nobody ever sees. Without that key it sends its clients to the controller,
and writes the znodes of topics that they name itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from logquake.client.clock import SystemClock
from logquake.client.connection import Connection, tcp_connect
from logquake.client.settings import Address, ClientSettings
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from tests.compat.kafka_programs import KafkaPrograms

pytestmark = [pytest.mark.maven, pytest.mark.slow, pytest.mark.timeout(300)]

KAFKA_ID = 9
START_S = 90
FORWARDING = {
    "zookeeper.metadata.migration.enable": "true",
    "controller.quorum.voters": "3000@127.0.0.1:1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
}


class KafkaBroker:
    """What clients ask of it alone."""

    def __init__(self, address: Address) -> None:
        self._address = address

    def ask(self, request: Any, answer: Any, version: int) -> Any:
        settings = ClientSettings(f"{self._address.host}:{self._address.port}")
        with closing(Connection(self._address, settings, SystemClock(), tcp_connect)) as there:
            return there.request(request, answer, at_most=version)

    def topic(self, name: str) -> Any:
        request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
        (topic,) = self.ask(request, MetadataResponse, 12).topics
        return topic

    def create(self, name: str) -> str:
        topic = CreatableTopic(name=name, num_partitions=2, replication_factor=2)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=20_000)
        (made,) = self.ask(request, CreateTopicsResponse, 7).topics
        return error_name(made.error_code)

    def delete(self, name: str) -> str:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=20_000)
        (gone,) = self.ask(request, DeleteTopicsResponse, 6).responses
        return error_name(gone.error_code)


@contextmanager
def joined(
    programs: KafkaPrograms, cluster: Any, settings: dict[str, str]
) -> Iterator[KafkaBroker]:
    """A Kafka in the cluster that knows the controller, which is ours."""
    properties = {
        "broker.id": KAFKA_ID,
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": programs.folder / "data",
        "zookeeper.connect": cluster.zookeeper_connect,
        "default.replication.factor": 3,
        "num.partitions": 2,
    }
    view = cluster.view
    with programs.broker("forwarding", properties | settings):
        assert view.wait_until(lambda: KAFKA_ID in view.live_brokers(), START_S)
        assert view.controller() != KAFKA_ID
        broker = KafkaBroker(address_of(cluster))
        wait_until("its metadata", lambda: knows_the_cluster(broker))
        yield broker
    assert view.wait_until(lambda: KAFKA_ID not in view.live_brokers(), START_S)


def address_of(cluster: Any) -> Address:
    """As our brokers tell it."""
    first, *_ = cluster.bootstrap_servers.split(",")
    host, _, port = first.rpartition(":")
    ours = KafkaBroker(Address(host, int(port)))
    found: list[Address] = []

    def told() -> bool:
        brokers = ours.ask(MetadataRequest(topics=[]), MetadataResponse, 12).brokers
        found.extend(Address(each.host, each.port) for each in brokers if each.node_id == KAFKA_ID)
        return bool(found)

    wait_until("the address of Kafka", told)
    return found[0]


def knows_the_cluster(broker: KafkaBroker) -> bool:
    answer = broker.ask(MetadataRequest(topics=[]), MetadataResponse, 12)
    return len(answer.brokers) == 4 and answer.controller_id in (1, 2, 3)


def wait_until(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + START_S
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def test_what_clients_ask_of_a_forwarding_kafka_is_done(
    kafka_programs: KafkaPrograms, cluster: Any
) -> None:
    with joined(kafka_programs, cluster, FORWARDING) as kafka:
        assert kafka.topic("asked-about").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        wait_until("the topic asked about", lambda: len(kafka.topic("asked-about").partitions) == 2)
        assert kafka.create("created") == "NONE"
        assert kafka.create("created") == "TOPIC_ALREADY_EXISTS"
        assert kafka.create("no spaces") == "INVALID_TOPIC_EXCEPTION"
        assert kafka.delete("created") == "NONE"
        assert kafka.delete("created") == "UNKNOWN_TOPIC_OR_PARTITION"


def test_a_kafka_that_does_not_forward_makes_the_topics_that_clients_name(
    kafka_programs: KafkaPrograms, cluster: Any
) -> None:
    with joined(kafka_programs, cluster, {}) as kafka:
        assert kafka.create("created") == "NOT_CONTROLLER"
        assert kafka.topic("named").error_code == ErrorCode.LEADER_NOT_AVAILABLE
        wait_until("the topic named", lambda: len(kafka.topic("named").partitions) == 2)
