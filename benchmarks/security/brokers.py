"""One broker of each kind with four listeners: open, TLS, SCRAM, and both.

Each with a ZooKeeper of its own, the same keys and users, and an elliptic curve's certificate.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from benchmarks.clients.line import Address
from benchmarks.errors import BenchmarkError
from benchmarks.kafka_peer import NAME as KAFKA
from benchmarks.kafka_peer import broker_command
from benchmarks.own_cluster import NAME as OWN
from benchmarks.place import data_folder
from benchmarks.target import Target
from benchmarks.topics import FREES_SOON
from logquake.cluster.layout import last_line
from logquake.cluster.processes.ports import LOOPBACK, hold_port_for_java, port_of
from logquake.cluster.security.certificates import Authority
from logquake.cluster.supervisor.local_zookeeper import LocalServer
from logquake.cluster.supervisor.scram_program import write_users
from logquake.cluster.zookeeper.program import find_program
from logquake.node.authentication.scram import ScramCredential
from logquake.wire.sasl.scram_mechanism import ScramMechanism

USER, PASSWORD = "benchmark", "hush"
MECHANISM = ScramMechanism.SCRAM_SHA_512

_SALT = b"as good as any"
_START_TIMEOUT_S = 90.0
_PROBE_INTERVAL_S = 0.05
_END_TIMEOUT_S = 20.0


class Listener(Enum):
    """``value`` is Kafka's word for its protocol, and its name as well."""

    OPEN = "PLAINTEXT"
    TLS = "SSL"
    SCRAM = "SASL_PLAINTEXT"
    BOTH = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self.value.endswith("SSL")

    @property
    def has_scram(self) -> bool:
        return self.value.startswith("SASL")


@dataclass(frozen=True, slots=True)
class Secured:
    """``target`` is the broker as those see it who come by its open listener."""

    target: Target
    listeners: Mapping[Listener, Address]
    authority: Path

    @property
    def name(self) -> str:
        return self.target.name


Command = Callable[[Path], Sequence[str]]  # of a broker with that server.properties


@contextlib.contextmanager
def secured_brokers(*, kafka: bool) -> Iterator[list[Secured]]:
    """Ours first. Raises BenchmarkError when one does not start."""
    with contextlib.ExitStack() as stack:
        found = [stack.enter_context(_secured(OWN, _own_command))]
        if kafka:
            found.append(stack.enter_context(_secured(KAFKA, broker_command)))
        yield found


def _own_command(config: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks.security.own_broker", str(config)]


@contextlib.contextmanager
def _secured(name: str, command: Command) -> Iterator[Secured]:
    with data_folder() as folder, _zookeeper(folder) as zookeeper:
        listeners = {
            listener: Address(LOOPBACK, port)
            for listener, port in zip(Listener, _free_ports(len(Listener)), strict=True)
        }
        authority = _issue(folder)
        config = folder / "broker.properties"
        properties = _properties(folder, zookeeper.address, listeners, authority)
        config.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        with _running(command(config), folder / "broker.log") as process:
            bootstrap = f"{LOOPBACK}:{listeners[Listener.OPEN].port}"
            _await(name, bootstrap, process, folder / "broker.log")
            pids = (process.pid, zookeeper.pid)
            yield Secured(Target(name, bootstrap, pids[:1], pids), listeners, authority)


@dataclass(frozen=True, slots=True)
class _ZooKeeper:
    address: str
    pid: int


@contextlib.contextmanager
def _zookeeper(folder: Path) -> Iterator[_ZooKeeper]:
    """With the user in it."""
    place = folder / "zookeeper"
    place.mkdir()
    server = LocalServer(find_program(), place)
    address, process = f"{LOOPBACK}:{server.port}", server.spawn()
    try:
        server.wait_until_serving()
        if write_users(address, {USER: {MECHANISM.value: _credential()}}):
            raise BenchmarkError("the user cannot be written")
        yield _ZooKeeper(address, process.pid)
    finally:
        _end(process)


def _credential() -> str:
    iterations = MECHANISM.min_iterations
    salted = MECHANISM.salted_password(PASSWORD, _SALT, iterations)
    return ScramCredential.of(MECHANISM, salted, _SALT, iterations).encode()


def _issue(folder: Path) -> Path:
    """The file of the authority's certificate."""
    authority = Authority("benchmark", datetime.now(UTC))
    broker = authority.issue("broker", [LOOPBACK])
    (folder / "broker.pem").write_text(broker.certificate + broker.key)
    (folder / "ca.pem").write_text(authority.certificate)
    return folder / "ca.pem"


def _properties(
    folder: Path, zookeeper: str, listeners: Mapping[Listener, Address], authority: Path
) -> dict[str, object]:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    mechanism = MECHANISM.value.lower()
    return {
        "broker.id": 1,
        "listeners": ",".join(
            f"{listener.value}://{there.host}:{there.port}" for listener, there in listeners.items()
        ),
        "inter.broker.listener.name": Listener.OPEN.value,
        "sasl.enabled.mechanisms": MECHANISM.value,
        **{
            f"listener.name.{listener.value.lower()}.{mechanism}.sasl.jaas.config": module
            for listener in listeners
            if listener.has_scram
        },
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": folder / "broker.pem",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": authority,
        "log.dirs": folder / "data",
        "zookeeper.connect": zookeeper,
        "offsets.topic.replication.factor": 1,
        **FREES_SOON,
    }


@contextlib.contextmanager
def _running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C is ours to handle
        )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """At once: there is nothing to keep."""
    process.kill()
    process.wait(_END_TIMEOUT_S)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        return [port_of(held.enter_context(hold_port_for_java())) for _ in range(count)]


def _await(name: str, bootstrap: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it tells of itself. Raises BenchmarkError when it ends instead, or takes too long."""
    admin = AdminClient(
        {"bootstrap.servers": bootstrap, "reconnect.backoff.max.ms": 100, "log_level": 0}
    )
    deadline = time.monotonic() + _START_TIMEOUT_S
    while not _tells(admin):
        if process.poll() is not None:
            raise BenchmarkError(f"{name} ended: {last_line(log)}")
        if time.monotonic() > deadline:
            raise BenchmarkError(f"{name} is not ready after {_START_TIMEOUT_S:g} s")
        time.sleep(_PROBE_INTERVAL_S)


def _tells(admin: AdminClient) -> bool:
    try:
        return bool(admin.list_topics(timeout=0.5).brokers)
    except KafkaException:
        return False
