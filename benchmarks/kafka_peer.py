"""Apache Kafka in ZooKeeper mode as a peer: one ZooKeeper, three brokers, on free ports.

LOGQUAKE_KAFKA_LIBS names a folder with Kafka's jars and their dependencies (ZooKeeper's among
them); docs/benchmarks.md says how to get one. Flags of the JVM are those of Kafka's own start
script, with a heap of at most 1 GiB.

Caveat: a port is free when it is picked; another process could still take it before Java does.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from benchmarks.errors import BenchmarkError
from benchmarks.place import data_folder
from benchmarks.target import Target
from benchmarks.topics import FREES_SOON
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import last_line
from logquake.cluster.processes.java import find_java
from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.zookeeper.probe import serves

NAME = "kafka"
LIBS_VARIABLE = "LOGQUAKE_KAFKA_LIBS"
BROKERS = 3

_START_TIMEOUT_S = 90.0
_END_TIMEOUT_S = 20.0
_PROBE_INTERVAL_S = 0.02
_SESSION_TIMEOUT_MS = 6_000  # a leader change every 18 s would be most of a run's time
_BROKER_FLAGS = (
    "-Xmx1g",
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-Djava.awt.headless=true",
)
_ZOOKEEPER_FLAGS = ("-Xmx512m", "-Djava.awt.headless=true")
# No files of the JVM in /tmp that a kill would leave behind.
_COMMON_FLAGS = ("-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")


@contextlib.contextmanager
def kafka_cluster() -> Iterator[Target]:
    """Raises BenchmarkError when there are no jars, no Java, or a process ends early."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(data_folder())
        jvms = stack.enter_context(_Jvms(folder))
        zookeeper_port, *broker_ports = _free_ports(1 + BROKERS)
        zookeeper = _start_zookeeper(jvms, folder, zookeeper_port)
        brokers = [
            _start_broker(jvms, folder, broker_id, port, zookeeper_port)
            for broker_id, port in enumerate(broker_ports, 1)
        ]
        bootstrap = ",".join(f"{LOOPBACK}:{port}" for port in broker_ports)
        _await_brokers(jvms, bootstrap)
        yield Target(NAME, bootstrap, tuple(brokers), (zookeeper, *brokers))


def libs() -> Path:
    folder = os.environ.get(LIBS_VARIABLE)
    if not folder or not any(Path(folder).glob("kafka_2.*.jar")):
        raise BenchmarkError(f"set {LIBS_VARIABLE} to a folder with Kafka's jars")
    return Path(folder)


def broker_command(config: Path) -> list[str]:
    """Raises BenchmarkError when there are no jars, or no Java."""
    return _command(_BROKER_FLAGS, "kafka.Kafka", config)


def _command(flags: tuple[str, ...], main: str, config: Path) -> list[str]:
    return [_java(), *flags, *_COMMON_FLAGS, "-cp", f"{libs()}/*", main, str(config)]


class _Jvms:
    """Java processes that end with the block, the last one started first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> _Jvms:
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self._running.values()):
            _end(process)

    def start(self, name: str, command: list[str]) -> int:
        with self._log(name).open("wb") as output:
            self._running[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._folder,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        return self._running[name].pid

    def check(self) -> None:
        """Raises BenchmarkError when one has ended."""
        for name, process in self._running.items():
            if process.poll() is not None:
                raise BenchmarkError(f"{name} of the peer ended: {last_line(self._log(name))}")

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def _java() -> str:
    try:
        return str(find_java().executable)
    except ClusterError as error:
        raise BenchmarkError(str(error)) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """At once: there is nothing to keep, and a controlled shutdown takes seconds."""
    process.kill()
    process.wait(_END_TIMEOUT_S)


def _free_ports(count: int) -> list[int]:
    held = [hold_port_for_java() for _ in range(count)]
    ports = [port_of(one) for one in held]
    for one in held:
        one.close()
    return ports


def _start_zookeeper(jvms: _Jvms, folder: Path, port: int) -> int:
    config = folder / "zoo.cfg"
    config.write_text(
        f"dataDir={folder / 'zookeeper'}\n"
        f"clientPort={port}\n"
        f"clientPortAddress={LOOPBACK}\n"
        "maxClientCnxns=0\n"
        "admin.enableServer=false\n"
        "4lw.commands.whitelist=srvr\n"
    )
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    pid = jvms.start("zookeeper", _command(_ZOOKEEPER_FLAGS, main, config))
    _wait("ZooKeeper of the peer", jvms, lambda: serves(LOOPBACK, port))
    return pid


def _start_broker(jvms: _Jvms, folder: Path, broker_id: int, port: int, zookeeper_port: int) -> int:
    """Kafka's defaults, save that a deleted topic's pages are free after a second, that a broker
    that is silent for some seconds is dead, and that a new group waits for nobody, as in Kafka's
    stock server.properties and in our cluster.
    """
    config = folder / f"broker-{broker_id}.properties"
    config.write_text(
        f"broker.id={broker_id}\n"
        f"listeners=PLAINTEXT://{LOOPBACK}:{port}\n"
        f"log.dirs={folder / f'broker-{broker_id}'}\n"
        f"zookeeper.connect={LOOPBACK}:{zookeeper_port}\n"
        f"default.replication.factor={BROKERS}\n"
        "offsets.topic.replication.factor=3\n"
        "group.initial.rebalance.delay.ms=0\n"
        f"zookeeper.session.timeout.ms={_SESSION_TIMEOUT_MS}\n"
        + "".join(f"{key}={value}\n" for key, value in FREES_SOON.items())
    )
    return jvms.start(f"broker-{broker_id}", broker_command(config))


def _await_brokers(jvms: _Jvms, bootstrap: str) -> None:
    """Until the brokers know of one another."""
    # By default librdkafka waits up to 10 s before it tries a refused address again.
    admin = AdminClient(
        {"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 100, "log_level": 0}
    )

    def all_known() -> bool:
        try:
            return len(admin.list_topics(timeout=0.5).brokers) == BROKERS
        except KafkaException:
            return False

    _wait("Kafka", jvms, all_known)


def _wait(what: str, jvms: _Jvms, holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not holds():
        jvms.check()
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{what} is not ready after {_START_TIMEOUT_S:g} s")
        time.sleep(_PROBE_INTERVAL_S)
