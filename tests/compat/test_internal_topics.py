"""Coordinators' topics are made, refused, told and deleted as by a Kafka 3.9.

Each has a cluster of its own.

One broker cannot hold the three replicas that the offsets topic is to have; the transactions' topic
fits.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from logquake.client.clock import SystemClock
from logquake.client.connection import Connection, tcp_connect
from logquake.client.errors import ClientError
from logquake.client.settings import Address, ClientSettings
from logquake.wire.errors import ErrorCode, error_name
from logquake.wire.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
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
from tests.by_hand import broker_by_hand
from tests.compat.kafka_programs import KafkaPrograms

pytestmark = [pytest.mark.maven, pytest.mark.slow, pytest.mark.timeout(300)]

START_S = 90
OFFSETS, TRANSACTIONS = "__consumer_offsets", "__transaction_state"
GROUP, TRANSACTION = 0, 1
Twins = tuple["Lone", "Lone"]


class Lone:
    """A cluster of one broker, ours or Kafka's."""

    def __init__(self, port: int, zookeeper: str) -> None:
        self._address = Address("127.0.0.1", port)
        self.zookeeper = zookeeper

    def ask(self, request: Any, answer: Any, version: int) -> Any:
        settings = ClientSettings(f"127.0.0.1:{self._address.port}")
        with closing(Connection(self._address, settings, SystemClock(), tcp_connect)) as there:
            return there.request(request, answer, at_most=version)

    def topics(self, *names: str, version: int = 12) -> list[tuple[str, str, bool, int]]:
        """Name, error, whether internal, number of partitions: of each topic."""
        topics = [MetadataRequestTopic(name=name) for name in names]
        answer = self.ask(MetadataRequest(topics=topics), MetadataResponse, version)
        return sorted(
            (each.name, error_name(each.error_code), each.is_internal, len(each.partitions))
            for each in answer.topics
        )

    def coordinator(self, key_type: int, key: str, version: int) -> Any:
        """Error, message, node, of a key."""
        keys: dict[str, Any] = {"key": key} if version < 4 else {"coordinator_keys": [key]}
        request = FindCoordinatorRequest(key_type=key_type, **keys)
        answer = self.ask(request, FindCoordinatorResponse, version)
        found = answer if version < 4 else answer.coordinators[0]
        return error_name(found.error_code), found.error_message, found.node_id, found.host

    def create(self, name: str, partitions: int = 1) -> Any:
        topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        (made,) = self.ask(request, CreateTopicsResponse, 7).topics
        return error_name(made.error_code), made.error_message, made.num_partitions

    def delete(self, name: str) -> str:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=10_000)
        (gone,) = self.ask(request, DeleteTopicsResponse, 6).responses
        return error_name(gone.error_code)

    def config_of(self, topic: str) -> bytes:
        client = KazooClient(self.zookeeper)
        client.start()
        try:
            return bytes(client.get(f"/config/topics/{topic}")[0])
        finally:
            client.stop()
            client.close()

    def wait_until(self, what: str, holds: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not holds():
            assert time.monotonic() < deadline, f"waited in vain for {what}"
            time.sleep(0.05)

    def serves(self) -> bool:
        try:
            answer = self.ask(MetadataRequest(topics=[]), MetadataResponse, 12)
        except ClientError:
            return False
        return len(answer.brokers) == 1 and answer.controller_id >= 0


@pytest.fixture
def twins(kafka_programs: KafkaPrograms, cluster: Any, tmp_path: Path) -> Iterator[Twins]:
    """Ours and Kafka, with the same settings, each in a chroot of its own."""
    ours, kafkas = (lone(cluster, name) for name in ("ours", "kafkas"))
    with ExitStack() as brokers:
        properties = properties_of(ours, tmp_path / "ours")
        brokers.enter_context(broker_by_hand(tmp_path, properties))
        properties = properties_of(kafkas, tmp_path / "kafkas")
        brokers.enter_context(kafka_programs.broker("lone", properties))
        for each in (ours, kafkas):
            each.wait_until("the broker", each.serves)
        yield ours, kafkas


def lone(cluster: Any, name: str) -> Lone:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    client = KazooClient(cluster.zookeeper_connect)
    client.start()
    client.create(f"/{name}")
    client.stop()
    client.close()
    return Lone(port, f"{cluster.zookeeper_connect}/{name}")


def properties_of(broker: Lone, data: Path) -> dict[str, object]:
    return {
        "broker.id": 1,
        "listeners": f"PLAINTEXT://127.0.0.1:{broker._address.port}",
        "zookeeper.connect": broker.zookeeper,
        "log.dirs": data,
        "num.partitions": 2,
        "offsets.topic.segment.bytes": 7_000_000,
        "transaction.state.log.num.partitions": 5,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.segment.bytes": 5_000_000,
    }


def both(twins: Twins, ask: Callable[[Lone], Any]) -> Any:
    """What both say."""
    ours, kafkas = (ask(each) for each in twins)
    assert ours == kafkas
    return ours


def test_both_do_the_same(twins: Twins) -> None:
    """One start of Kafka serves all that is compared."""
    names = [OFFSETS, TRANSACTIONS, "__share_group_state", "user"]
    asked = both(twins, lambda broker: broker.topics(*names))
    assert asked == [
        (OFFSETS, "INVALID_REPLICATION_FACTOR", True, 0),
        ("__share_group_state", "LEADER_NOT_AVAILABLE", True, 0),
        (TRANSACTIONS, "LEADER_NOT_AVAILABLE", True, 0),
        ("user", "LEADER_NOT_AVAILABLE", False, 0),
    ]
    for each in twins:
        each.wait_until(
            "leaders",
            lambda each=each: [t[1] for t in each.topics(*names[1:])] == ["NONE"] * 3,
        )
    both(twins, lambda broker: broker.topics(*names[1:]))
    both(twins, lambda broker: broker.config_of(TRANSACTIONS))
    for version in range(1, 7):
        for key in ("tx-1", "", "grüße", "polygenelubricants"):
            found = both(
                twins, lambda b, version=version, key=key: b.coordinator(TRANSACTION, key, version)
            )
            assert (found[0], found[2]) == ("NONE", 1)
    for version in range(7):
        found = both(twins, lambda b, version=version: b.coordinator(GROUP, "g", version))
        assert (found[0], found[2]) == ("COORDINATOR_NOT_AVAILABLE", -1)
    assert both(twins, lambda broker: broker.create("__cluster_metadata"))[0] == "INVALID_REQUEST"
    assert both(twins, lambda broker: broker.create(TRANSACTIONS))[0] == "TOPIC_ALREADY_EXISTS"
    assert both(twins, lambda broker: broker.create(OFFSETS, 3)) == ("NONE", None, 3)
    both(twins, lambda broker: broker.config_of(OFFSETS))
    assert both(twins, lambda broker: broker.delete(TRANSACTIONS)) == ErrorCode.NONE.name
