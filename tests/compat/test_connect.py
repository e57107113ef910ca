"""A worker of Kafka Connect takes a file's lines to a topic, once each, and on to another file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.test_transactions import COMMITTED, read
from tests.one_broker import held_ports
from tests.waiting import wait_for

pytestmark = [pytest.mark.maven, pytest.mark.slow]

PATIENCE_S = 200
END_S = 180
TOPIC = "lines"
STORED = ("config", "offset", "status")  # by the worker, in topics of its own
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
_AS_TEXT = "org.apache.kafka.connect.storage.StringConverter"


class Worker:
    """Of a group of its own, which the brokers coordinate as they do consumers' (KIP-415)."""

    def __init__(self, programs: KafkaPrograms, servers: str, port: int) -> None:
        self._programs = programs
        self._url = f"http://127.0.0.1:{port}/connectors"
        self._settings = programs.settings(
            "worker",
            {
                "bootstrap.servers": servers,
                "group.id": "connect",
                "listeners": f"http://127.0.0.1:{port}",
                "plugin.discovery": "service_load",
                "key.converter": _AS_TEXT,
                "value.converter": _AS_TEXT,
                "exactly.once.source.support": "enabled",
                "offset.flush.interval.ms": 1_000,
                "consumer.auto.offset.reset": "earliest",
                **{f"{each}.storage.topic": f"connect-{each}" for each in STORED},
                **{f"{each}.storage.partitions": 2 for each in STORED if each != "config"},
            },
        )

    @contextmanager
    def at_work(self) -> Iterator[None]:
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        with self._programs.running("worker", main, str(self._settings)) as process:
            wait_for("worker", self._answers, unready=(OSError,), timeout_s=PATIENCE_S)
            yield
            process.terminate()
            process.wait(END_S)

    def set(self, name: str, **config: object) -> None:
        """A connector, with keys written with _ for a dot."""
        body = json.dumps({key.replace("_", "."): str(value) for key, value in config.items()})
        headers = {"Content-Type": "application/json"}
        url = f"{self._url}/{name}/config"
        wait_for(
            f"connector {name}",
            lambda: _answer(Request(url, body.encode(), headers, method="PUT")),
            unready=(OSError,),
            timeout_s=PATIENCE_S,
        )

    def _answers(self) -> bool:
        return _answer(Request(self._url)) is not None


def _answer(request: Request) -> object:
    with urlopen(request, timeout=END_S) as answer:
        return json.load(answer)


def test_lines_go_through_a_topic_once_and_on_after_a_restart(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path: Path
) -> None:
    kafka_programs.need("connect-file")
    before, after = tmp_path / "before.txt", tmp_path / "after.txt"
    lines = [f"line {number}" for number in range(200)]
    with held_ports(1) as (port,):
        worker = Worker(kafka_programs, cluster.bootstrap_servers, port)
        before.write_text("".join(f"{line}\n" for line in lines[:100]))
        with worker.at_work():
            worker.set("reader", connector_class=SOURCE, file=before, topic=TOPIC)
            worker.set("writer", connector_class=SINK, file=after, topics=TOPIC)
            wait_until_there(after, lines[:100])
        with before.open("a") as file:
            file.writelines(f"{line}\n" for line in lines[100:])
        with worker.at_work():
            wait_until_there(after, lines)
    assert read(cluster, TOPIC, 0, COMMITTED) == [line.encode() for line in lines]


def wait_until_there(file: Path, lines: list[str]) -> None:
    wait_for(
        f"{len(lines)} lines",
        lambda: file.read_text().splitlines(),
        lambda found: found == lines,
        unready=(FileNotFoundError,),
        timeout_s=PATIENCE_S,
    )
