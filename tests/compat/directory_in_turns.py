"""One log directory that brokers of Apache Kafka and of ours take over from one another.

They have the same ZooKeeper and the same broker id, so each finds what the other left: topics and
their settings in the znodes, the records in the files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.zookeeper.program import find_program
from logquake.cluster.zookeeper.server import spawn_server, wait_until_serving
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.sessions import LONG_MS, end_session
from tests.waiting import PATIENCE_S, wait_for

BROKER_ID = 5

_OURS = """
import json, sys
from pathlib import Path
from logquake.node.process.broker_process import run_broker
from logquake.node.settings import BrokerSettings
settings = BrokerSettings.from_properties(json.loads(sys.argv[1]))
sys.exit(run_broker(settings, Path(sys.argv[2]), ready=lambda: None))
"""


@contextmanager
def directory_in_turns(programs: KafkaPrograms, folder: Path) -> Iterator[DirectoryInTurns]:
    """With a ZooKeeper of its own."""
    zookeeper = folder / "zookeeper"
    with hold_port_for_java() as held:
        port = port_of(held)
        server = spawn_server(find_program(), zookeeper, LOOPBACK, port)
        try:
            wait_until_serving(server, zookeeper, LOOPBACK, port)
            yield DirectoryInTurns(programs, folder, f"{LOOPBACK}:{port}")
        finally:
            server.kill()
            server.wait()


class DirectoryInTurns:
    def __init__(self, programs: KafkaPrograms, folder: Path, zookeeper: str) -> None:
        self.data = folder / "data"
        self._programs = programs
        self._folder = folder
        self._name = f"kafka-{folder.name}"  # of its log, which is nobody else's
        self._zookeeper = zookeeper
        self._settings: dict[str, str] = {
            "broker.id": str(BROKER_ID),
            "listeners": f"PLAINTEXT://{LOOPBACK}:0",
            "log.dirs": str(self.data),
            "zookeeper.connect": zookeeper,
            "zookeeper.session.timeout.ms": str(LONG_MS),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "2",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "transaction.state.log.num.partitions": "2",
            "group.initial.rebalance.delay.ms": "0",
            "log.cleaner.backoff.ms": "500",
            "log.flush.start.offset.checkpoint.interval.ms": "500",
            "log.segment.delete.delay.ms": "500",
            "log.initial.task.delay.ms": "500",
        }

    @contextmanager
    def kafka(self, **settings: str) -> Iterator[str]:
        """Apache Kafka serves; the bootstrap address. Stopped in order unless killed inside."""
        with self._programs.broker(self._name, self._with(settings)) as process:
            yield from self._serving(process)

    @contextmanager
    def ours(self, **settings: str) -> Iterator[str]:
        """As kafka(), with a broker of ours."""
        document = json.dumps(self._with(settings))
        command = [sys.executable, "-c", _OURS, document, str(self._folder / "events.jsonl")]
        with (self._folder / "ours.log").open("ab") as log:
            process = Popen(command, stdout=log, stderr=log)
        try:
            yield from self._serving(process)
        finally:
            process.kill()
            process.wait()

    def wait_for_start(self, topic: str, offset: int) -> None:
        """Until it is written down where partition 0 begins.

        SIGKILL may bring back what was deleted since the last time, in Kafka too.
        """
        checkpoint = self.data / "log-start-offset-checkpoint"
        wait_for(
            f"start of {topic} at {offset}",
            lambda: checkpoint.read_text().splitlines(),
            lambda lines: f"{topic} 0 {offset}" in lines,
        )

    def kill(self) -> None:
        """SIGKILL for the broker whose turn it is."""
        self._process.kill()
        self._process.wait()

    def complaints_of_kafka(self) -> str:
        """What its brokers logged so far, of warnings and worse."""
        return (self._programs.folder / f"{self._name}.log").read_text()

    def _with(self, settings: Mapping[str, str]) -> dict[str, str]:
        given = {key.replace("_", "."): value for key, value in settings.items()}
        return self._settings | given

    def _serving(self, process: Popen[bytes]) -> Iterator[str]:
        self._process = process
        with self._znodes() as znodes:
            port = wait_for("registration", lambda: self._registered_port(znodes))
            yield f"{LOOPBACK}:{port}"
            if process.poll() is None:
                process.terminate()
                assert process.wait(PATIENCE_S) in (0, 143)
            else:
                end_session(znodes, BROKER_ID)
            wait_for("end of its session", lambda: _port(znodes), lambda port: port is None)

    def _registered_port(self, znodes: KazooClient) -> int | None:
        assert self._process.poll() is None, "the broker ended"
        return _port(znodes)

    @contextmanager
    def _znodes(self) -> Iterator[KazooClient]:
        client = KazooClient(self._zookeeper)
        client.start(PATIENCE_S)
        try:
            yield client
        finally:
            client.stop()
            client.close()


def _port(znodes: KazooClient) -> int | None:
    try:
        content, _ = znodes.get(f"/brokers/ids/{BROKER_ID}")
    except NoNodeError:
        return None
    return int(json.loads(content)["port"])
