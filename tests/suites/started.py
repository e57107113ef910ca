"""The brokers that a suite is run against: ours, or Kafka's own where one wants to compare."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from logquake.cluster.api import Cluster
from logquake.cluster.processes.ports import hold_port_for_java, port_of
from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.one_broker import OneBroker
from tests.suites.suite import Brokers, SuiteError

ALONE = {
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}


@contextmanager
def started(brokers: Brokers, folder: Path, *, kafkas: bool) -> Iterator[str]:
    """Where the first protocol's listeners are. Broker ids count from 0, as their authors' do."""
    with Cluster(brokers=1) as beside, ExitStack() as stack:
        zookeeper = own_chroot(beside.zookeeper_connect, "suite")
        width = len(brokers.protocols)
        ports = [stack.enter_context(_held(brokers, each)) for each in range(width * brokers.count)]
        for broker_id in range(brokers.count):
            mine = ports[broker_id * width : (broker_id + 1) * width]
            properties = _properties(brokers, broker_id, mine, folder)
            properties["zookeeper.connect"] = zookeeper
            stack.enter_context(_broker(folder, properties, kafkas=kafkas))
        plain = ports[::width]
        for port in plain:
            OneBroker(port).wait_to_know(set(range(brokers.count)))
        yield ",".join(f"127.0.0.1:{port}" for port in plain)


@contextmanager
def _held(brokers: Brokers, index: int) -> Iterator[int]:
    wanted = None if brokers.first_port is None else brokers.first_port + index
    with hold_port_for_java(port=wanted) as held:
        yield port_of(held)


def _properties(
    brokers: Brokers, broker_id: int, ports: list[int], folder: Path
) -> dict[str, object]:
    listeners = zip(brokers.protocols, ports, strict=True)
    return {
        "broker.id": broker_id,
        "listeners": ",".join(f"{protocol}://localhost:{port}" for protocol, port in listeners),
        "log.dirs": folder / f"data-{broker_id}",
        **(ALONE if brokers.count == 1 else {}),
        **brokers.config,
    }


def _broker(
    folder: Path, properties: Mapping[str, object], *, kafkas: bool
) -> AbstractContextManager[object]:
    if not kafkas:
        return broker_by_hand(folder, properties)
    libs, java = os.environ.get("LOGQUAKE_KAFKA_LIBS"), shutil.which("java")
    if not libs or java is None:
        raise SuiteError("no java, or LOGQUAKE_KAFKA_LIBS names no folder with Kafka's jars")
    name = f"kafka-{properties['broker.id']}"
    return KafkaPrograms(java, Path(libs), folder).broker(name, properties)
