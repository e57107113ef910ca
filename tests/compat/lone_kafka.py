"""A real Kafka broker that stands alone, and a connection that speaks in bodies."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from logquake.cluster.processes.ports import hold_port_for_java, port_of
from tests.compat.kafka_programs import KafkaPrograms
from tests.waiting import PATIENCE_S, wait_for

KAFKA_ID = 9


class Wire:
    """One connection that speaks in bodies."""

    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(self._address, timeout=PATIENCE_S)
        self._file = self._socket.makefile("rb")

    def send(self, key: int, version: int, body: bytes, *, flexible: bool = False) -> bytes:
        """The body of the answer. Headers of flexible versions have tags, here none."""
        client, tags = b"wire", bytes(flexible)
        header = struct.pack(f">hhih{len(client)}s", key, version, 1, len(client), client) + tags
        self._socket.sendall(struct.pack(">i", len(header) + len(body)) + header + body)
        size = self._file.read(4)
        if len(size) < 4:
            self.close()
            self._connect()
            return b""
        return self._file.read(int.from_bytes(size, "big"))[4 + len(tags) :]

    def close(self) -> None:
        self._file.close()
        self._socket.close()


@dataclass(frozen=True)
class LoneKafka:
    servers: str
    data: Path


@contextmanager
def lone_broker(
    programs: KafkaPrograms, zookeeper_connect: str, *, transactions: bool = False
) -> Iterator[LoneKafka]:
    """In a corner of a ZooKeeper that nobody else uses; coordinating transactions too, or not."""
    with hold_port_for_java() as held:
        servers = f"127.0.0.1:{port_of(held)}"
        data = programs.folder / "alone"
        properties = {
            "broker.id": KAFKA_ID,
            "listeners": f"PLAINTEXT://{servers}",
            "log.dirs": data,
            "zookeeper.connect": f"{zookeeper_connect}/alone",
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "group.initial.rebalance.delay.ms": 0,
            "auto.leader.rebalance.enable": "false",
        }
        if transactions:
            properties |= {
                "transaction.state.log.replication.factor": 1,
                "transaction.state.log.min.isr": 1,
                "transaction.state.log.num.partitions": 1,
            }
        with programs.broker("alone", properties):
            _wait_until_up(servers)
            yield LoneKafka(servers, data)


def _wait_until_up(servers: str) -> None:
    wait_for(
        f"Kafka at {servers}",
        lambda: AdminClient({"bootstrap.servers": servers}).list_topics(timeout=10),
        unready=(KafkaException,),
    )
