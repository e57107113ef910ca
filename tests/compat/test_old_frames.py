"""Requests of every age: what a real Kafka answers is what was stored, and what ours answers.

UPDATE_VECTORS=1 stores Kafka's answers anew.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from logquake.cluster.ports import hold_port_for_java, port_of
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.schema import decode, encode
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.old_frames import (
    cases,
    differences,
    play,
    readable,
    store,
    stored,
    topic_name,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

START_S = 60
ANSWER_S = 20
KAFKA_ID = 9


class Wire:
    """One connection that speaks in bodies, all of versions before flexible ones."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._address, timeout=ANSWER_S)
        self._file = self._socket.makefile("rb")

    def send(self, key: int, version: int, body: bytes) -> bytes:
        client = b"old frames"
        header = struct.pack(f">hhih{len(client)}s", key, version, 1, len(client), client)
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        size = self._file.read(4)
        if len(size) < 4:
            self.close()
            self._connect()
            return b""
        return self._file.read(int.from_bytes(size, "big"))[4:]

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def answers(servers: str, broker_id: int) -> dict[str, list[bytes]]:
    """Of one broker, which leads all these topics, to every case."""
    admin = AdminClient({"bootstrap.servers": servers})
    all_cases = list(cases())
    news = [
        NewTopic(topic_name(at), 1, replica_assignment=[[broker_id]], config=case.config)
        for at, case in enumerate(all_cases)
    ]
    for future in admin.create_topics(news, operation_timeout=START_S).values():
        future.result(START_S)
    host, port = servers.split(":")
    with closing(Wire(host, int(port))) as wire:
        wait_until_leads(wire, len(all_cases), broker_id)
        return {
            case.name: play(case, topic_name(at), wire.send) for at, case in enumerate(all_cases)
        }


def wait_until_leads(wire: Wire, topics: int, broker_id: int) -> None:
    """Topics are created once the broker that was asked knows them; this one may hear of it later.

    A broker hears what it leads before it hears of who leads what.
    """
    deadline = time.monotonic() + START_S
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name=topic_name(n)) for n in range(topics)]
    )
    while True:
        answer = wire.send(ApiKey.METADATA, 1, encode(asked, 1))
        response = decode(MetadataResponse, 1, memoryview(answer))
        led = [topic for topic in response.topics if _leaders(topic) == [broker_id]]
        if len(led) == topics:
            return
        assert time.monotonic() < deadline, (
            f"broker {broker_id} leads {len(led)} of {topics} topics"
        )
        time.sleep(0.1)


def _leaders(topic: MetadataResponseTopic) -> list[int]:
    return [partition.leader_id for partition in topic.partitions]


def wait_until_up(servers: str) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            AdminClient({"bootstrap.servers": servers}).list_topics(timeout=2)
            return
        except KafkaException:
            if time.monotonic() > deadline:
                raise


@pytest.fixture(scope="module")
def kafka(kafka_programs: KafkaPrograms, cluster: Any) -> Iterator[str]:
    """A real broker, alone, in another corner of the same ZooKeeper."""
    held = hold_port_for_java()
    servers = f"127.0.0.1:{port_of(held)}"
    held.close()
    properties = {
        "broker.id": KAFKA_ID,
        "listeners": f"PLAINTEXT://{servers}",
        "log.dirs": kafka_programs.folder / "old-frames",
        "zookeeper.connect": f"{cluster.zookeeper_connect}/alone",
        "auto.create.topics.enable": "false",
    }
    with kafka_programs.broker("alone", properties):
        wait_until_up(servers)
        yield servers


@pytest.mark.maven
def test_a_real_kafka_answers_as_was_stored(
    kafka: str, record_property: Callable[[str, object], None]
) -> None:
    got = answers(kafka, KAFKA_ID)
    if os.environ.get("UPDATE_VECTORS"):
        store(got)
    expected = stored()
    for case in cases():
        assert readable(case, got[case.name]) == readable(case, expected[case.name]), case.name
        record_property("answers of a real Kafka to old requests are as stored", len(case.asks))


def test_a_cluster_of_ours_answers_as_kafka_did(
    cluster: Any, record_property: Callable[[str, object], None]
) -> None:
    broker = cluster.bootstrap_servers.split(",")[0]
    got, expected = answers(broker, 1), stored()
    for case in cases():
        assert not differences(case, got[case.name], expected[case.name]), case.name
        record_property("old requests over TCP are answered as a real Kafka did", len(case.asks))
