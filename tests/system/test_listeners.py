"""Brokers with two listeners: whoever comes in by one is told the addresses of that one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.adapters.base import Message, Writing
from tests.compat.adapters.librdkafka import Librdkafka
from tests.one_broker import OneBroker, held_ports
from tests.waiting import PATIENCE_S

BROKER_IDS = (7, 8)
LISTENERS = ("INSIDE", "OUTSIDE")

Ports = dict[str, dict[int, int]]


@pytest.fixture(scope="module")
def zookeeper() -> Iterator[str]:
    """A chroot of its own in a server that a launched cluster has."""
    with Cluster(brokers=1) as kafka:
        yield own_chroot(kafka.zookeeper_connect, "two-listeners")


@pytest.fixture(scope="module")
def ports(zookeeper: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ports]:
    """By listener and broker."""
    folder = tmp_path_factory.mktemp("brokers")
    with ExitStack() as brokers:
        free = iter(brokers.enter_context(held_ports(len(LISTENERS) * len(BROKER_IDS))))
        ports = {name: {broker_id: next(free) for broker_id in BROKER_IDS} for name in LISTENERS}
        for broker_id in BROKER_IDS:
            properties = properties_of(broker_id, ports, zookeeper, folder)
            brokers.enter_context(broker_by_hand(folder, properties))
        for port in (port for each in ports.values() for port in each.values()):
            OneBroker(port).wait_to_know({*BROKER_IDS})
        yield ports


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
    metadata = AdminClient({"bootstrap.servers": servers(ports, listener)}).list_topics(
        timeout=PATIENCE_S
    )
    return {node.id: node.port for node in metadata.brokers.values()}


@pytest.mark.parametrize("listener", LISTENERS)
def test_a_client_is_told_the_addresses_of_its_listener(ports: Ports, listener: str) -> None:
    assert told(ports, listener) == ports[listener]


def test_what_is_written_outside_is_replicated_and_read_inside(ports: Ports) -> None:
    admin = AdminClient({"bootstrap.servers": servers(ports, "OUTSIDE")})
    new = NewTopic("orders", 2, replica_assignment=[[7, 8], [8, 7]])
    admin.create_topics([new])["orders"].result(PATIENCE_S)
    messages = [Message(b"%d" % at) for at in range(20)]
    for partition in (0, 1):
        Librdkafka(servers(ports, "OUTSIDE")).write("orders", partition, messages, Writing())
        assert Librdkafka(servers(ports, "INSIDE")).read("orders", partition, 20) == messages
