"""A cluster that is launched secure: who connects says who he is, brokers among themselves too."""

from __future__ import annotations

import json
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.api import Cluster
from logquake.cluster.security.cluster_security import ClusterSecurity
from tests.waiting import PATIENCE_S

PROGRAM = str(Path(sys.executable).parent / "logquake")


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("secure") / "cluster"
    with Cluster(brokers=3, data_dir=folder, secure=True) as kafka:
        yield kafka


@pytest.fixture(scope="module")
def security(kafka: Cluster) -> ClusterSecurity:
    assert kafka.security is not None
    return kafka.security


def program(kafka: Cluster, *arguments: str) -> str:
    command = [PROGRAM, *arguments, "--data-dir", str(kafka.layout.root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def write(kafka: Cluster, topic: str, count: int) -> None:
    failed: list[object] = []
    producer = Producer({**kafka.client_config(), "acks": "all"})
    for at in range(count):
        producer.produce(topic, b"%d" % at, on_delivery=lambda error, _: failed.append(error))
    assert producer.flush(PATIENCE_S) == 0
    assert failed == [None] * count


def test_a_leader_is_replaced_as_fast_as_without(kafka: Cluster) -> None:
    """Its refused connections tell of it, though nobody could say a word over them."""
    admin = AdminClient(dict(kafka.client_config()))
    admin.create_topics([NewTopic("orders", 1, 3)])["orders"].result(PATIENCE_S)
    write(kafka, "orders", 100)
    with kafka.kill("leader:orders/0") as fault:
        kafka.wait_leader_change("orders", 0, since=fault)
        write(kafka, "orders", 100)
        told = [event for event in events(kafka) if event["what"] == "broker-refused"]
        assert [event["subject"] for event in told] == [fault.member]
    assert len(kafka.wait_isr("orders", 0, size=3)) == 3


def test_our_own_commands_get_in(kafka: Cluster) -> None:
    program(kafka, "topic", "create", "by-command", "-p", "2")
    assert "by-command" in program(kafka, "topic", "list").split()


def test_who_says_nothing_is_not_served(kafka: Cluster) -> None:
    open_to_all = {"bootstrap.servers": kafka.bootstrap_servers, "log_level": "0"}
    with pytest.raises(Exception, match=r"_TRANSPORT|_TIMED_OUT"):
        AdminClient(dict(open_to_all)).list_topics(timeout=2)


def test_hostile_bytes_disturb_nobody(kafka: Cluster, security: ClusterSecurity) -> None:
    """In place of the handshake, and behind it."""
    broker = kafka.state().brokers[0]
    process = psutil.Process(broker.pid)
    before = process.memory_info().rss
    context = ssl.create_default_context(cafile=str(security.authority))
    random = Random(1)
    for at in range(300):
        content = random.randbytes(random.randrange(1, 3_000))
        address = (broker.host, broker.port)
        with socket.create_connection(address, PATIENCE_S) as plain, suppress(OSError):
            if at % 2:
                plain.sendall(content)
                continue
            with context.wrap_socket(plain, server_hostname=broker.host) as secured:
                size = random.choice([len(content), 0, 2**31 - 1])
                secured.sendall(size.to_bytes(4) + content)
    program(kafka, "topic", "list")
    assert process.memory_info().rss - before < 32 * 1024 * 1024


def test_secrets_are_in_their_owners_files_alone(kafka: Cluster, security: ClusterSecurity) -> None:
    secrets = [security.user.password, security.broker.password, "PRIVATE KEY"]
    told = [program(kafka, "status"), program(kafka, "status", "-o", "json"), kafka.describe()]
    for path in sorted(kafka.layout.root.rglob("*")):
        if not path.is_file() or path.suffix in (".log", ".jsonl", ".json"):
            continue
        if any(secret.encode() in path.read_bytes() for secret in secrets):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    for path in [*(kafka.layout.root / "logs").iterdir(), *kafka.layout.events.iterdir()]:
        told.append(path.read_text())
    for text in [*told, kafka.layout.supervisor_log.read_text(), kafka.layout.state.read_text()]:
        assert not [secret for secret in secrets if secret in text]
        assert "stored_key" not in text


def events(kafka: Cluster) -> list[dict[str, object]]:
    return [
        json.loads(line)
        for path in sorted(kafka.layout.events.iterdir())
        for line in path.read_text().splitlines()
    ]
