"""Brokers with two listeners: whoever comes in by one is told the addresses of that one."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kazoo.client import KazooClient

from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand
from tests.compat.adapters.base import Message, Writing
from tests.compat.adapters.librdkafka import Librdkafka

CHROOT = "/two-listeners"
BROKER_IDS = (7, 8)
LISTENERS = ("INSIDE", "OUTSIDE")
TIMEOUT_S = 60

Ports = dict[str, dict[int, int]]


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[str]:
    """A chroot of its own in a server that a launched cluster has."""
    with Cluster(brokers=1) as kafka:
        client = KazooClient(kafka.zookeeper_connect)
        client.start()
        client.create(CHROOT)
        client.stop()
        client.close()
        yield kafka.zookeeper_connect + CHROOT


@pytest.fixture(scope="module")
def ports(zookeeper: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ports]:
    """By listener and broker."""
    folder = tmp_path_factory.mktemp("brokers")
    ports = {name: {broker_id: free_port() for broker_id in BROKER_IDS} for name in LISTENERS}
    with ExitStack() as brokers:
        for broker_id in BROKER_IDS:
            properties = properties_of(broker_id, ports, zookeeper, folder)
            brokers.enter_context(broker_by_hand(folder, properties))
        wait_until_told(ports)
        yield ports


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def properties_of(broker_id: int, ports: Ports, zookeeper: str, folder: Path) -> dict[str, object]:
    addresses = [f"{name}://127.0.0.1:{ports[name][broker_id]}" for name in LISTENERS]
    return {
        "broker.id": broker_id,
        "listeners": ",".join(addresses),
        "listener.security.protocol.map": "INSIDE:PLAINTEXT,OUTSIDE:PLAINTEXT",
        "inter.broker.listener.name": "INSIDE",
        "log.dirs": folder / f"data-{broker_id}",
        "zookeeper.connect": zookeeper,
    }


def servers(ports: Ports, listener: str) -> str:
    return f"127.0.0.1:{ports[listener][BROKER_IDS[0]]}"


def told(ports: Ports, listener: str) -> dict[int, int]:
    """Ports by broker, as the first broker tells them to who comes in by the listener."""
    metadata = AdminClient({"bootstrap.servers": servers(ports, listener)}).list_topics(timeout=5)
    return {node.id: node.port for node in metadata.brokers.values()}


def wait_until_told(ports: Ports) -> None:
    """Both brokers serve, and the first knows the second."""
    wait_for("listeners", lambda: all(answers(p) for each in ports.values() for p in each.values()))
    wait_for("both brokers in Metadata", lambda: len(told(ports, "INSIDE")) == len(BROKER_IDS))


def wait_for(what: str, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("listener", LISTENERS)
def test_a_client_is_told_the_addresses_of_its_listener(ports: Ports, listener: str) -> None:
    assert told(ports, listener) == ports[listener]


def test_what_is_written_outside_is_replicated_and_read_inside(ports: Ports) -> None:
    admin = AdminClient({"bootstrap.servers": servers(ports, "OUTSIDE")})
    new = NewTopic("orders", 2, replica_assignment=[[7, 8], [8, 7]])
    admin.create_topics([new])["orders"].result(TIMEOUT_S)
    messages = [Message(b"%d" % at) for at in range(20)]
    for partition in (0, 1):
        Librdkafka(servers(ports, "OUTSIDE")).write("orders", partition, messages, Writing())
        assert Librdkafka(servers(ports, "INSIDE")).read("orders", partition, 20) == messages
