"""What kafka-configs of Kafka's writes into ZooKeeper before any broker runs, brokers start with.

Above all the user by which brokers that know each other by SCRAM alone get into each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.maven

BROKERS = (1, 2)
SCRAM = "SCRAM-SHA-512"
USER, PASSWORD = "admin", "hush, admin"
BYTES = "message.max.bytes=1234567"
DEPRECATED = (
    "Warning: --zookeeper is deprecated and will be removed in a future version of Kafka.\n"
    "Use --bootstrap-server instead to specify a broker to connect to.\n"
)


@dataclass(frozen=True)
class Configs:
    """kafka-configs --zookeeper."""

    programs: KafkaPrograms
    zookeeper: str

    def __call__(self, *arguments: str) -> str:
        """What it prints, without its warnings against doing so."""
        tool = "kafka.admin.ConfigCommand"
        done = self.programs.complete(tool, "--zookeeper", self.zookeeper, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.removeprefix(DEPRECATED)

    def add_user(self, name: str, password: str) -> None:
        credential = f"{SCRAM}=[iterations=4096,password={password}]"
        printed = self(*_of("users", name), "--alter", "--add-config", credential)
        assert printed == f"Completed updating config for entity: user-principal '{name}'.\n"


def _of(kind: str, name: str) -> tuple[str, ...]:
    return ("--entity-type", kind, "--entity-name", name)


def properties(zookeeper: str, broker_id: int, port: int, data: Path) -> dict[str, object]:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    login = f'{module} required username="{USER}" password="{PASSWORD}";'
    return {
        "broker.id": broker_id,
        "listeners": f"SASL_PLAINTEXT://127.0.0.1:{port}",
        "security.inter.broker.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism.inter.broker.protocol": SCRAM,
        "sasl.enabled.mechanisms": SCRAM,
        f"listener.name.sasl_plaintext.{SCRAM.lower()}.sasl.jaas.config": login,
        "log.dirs": data,
        "zookeeper.connect": zookeeper,
    }


def client(port: int, user: str, password: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": SCRAM,
        "sasl.username": user,
        "sasl.password": password,
    }


@pytest.fixture(scope="module")
def configs(kafka_programs: KafkaPrograms) -> Iterator[Configs]:
    with Cluster(brokers=1) as runs:
        yield Configs(kafka_programs, own_chroot(runs.zookeeper_connect, "bootstrapped"))


def test_brokers_start_with_what_was_written_before_them(configs: Configs, tmp_path: Path) -> None:
    configs.add_user(USER, PASSWORD)
    configs.add_user("alice", "wonder")
    configs("--alter", "--entity-type", "brokers", "--entity-default", "--add-config", BYTES)
    assert f"Configs for user-principal '{USER}' are {SCRAM}=salt=" in configs(
        "--describe", *_of("users", USER)
    )
    with ExitStack() as stack:
        ports = stack.enter_context(held_ports(len(BROKERS)))
        for broker_id, port in zip(BROKERS, ports, strict=True):
            data = tmp_path / f"data-{broker_id}"
            stack.enter_context(
                broker_by_hand(tmp_path, properties(configs.zookeeper, broker_id, port, data))
            )
        alice = client(ports[0], "alice", "wonder")
        admin = AdminClient(alice)
        wait_for(
            "two brokers",
            lambda: admin.list_topics(timeout=5).brokers,
            lambda known: len(known) == len(BROKERS),
            unready=(KafkaException,),
        )
        new = NewTopic("kept", 1, len(BROKERS), config={"min.insync.replicas": "2"})
        admin.create_topics([new])["kept"].result(PATIENCE_S)
        refused: list[object] = []
        producer = Producer({**alice, "acks": "all"})
        producer.produce("kept", b"x", on_delivery=lambda error, _: refused.append(error))
        assert producer.flush(PATIENCE_S) == 0
        assert refused == [None]
        resource = ConfigResource(ResourceType.BROKER, str(BROKERS[0]))
        told = admin.describe_configs([resource])[resource].result(PATIENCE_S)
        key, _, value = BYTES.partition("=")
        assert told[key].value == value
