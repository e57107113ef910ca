"""The suites that are known here, and how one is run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.api import Cluster
from tests.by_hand import broker_by_hand, own_chroot
from tests.one_broker import OneBroker, held_ports
from tests.suites.kafka_python import KafkaPythonSuite
from tests.suites.rust_rdkafka import RustRdkafkaSuite
from tests.suites.suite import Suite

SUITES: Mapping[str, Suite] = {
    "kafka-python": KafkaPythonSuite(),
    "rust-rdkafka": RustRdkafkaSuite(),
}

BROKER_ID = 0  # what their authors start by hand has this number
ALONE = {
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
}


def run(suite: Suite, against: str | None = None) -> Mapping[str, str]:
    """What each of its tests did: passed, failed, skipped, or error. Raises SuiteError."""
    with tempfile.TemporaryDirectory(prefix="logquake-suite-") as scratch:
        folder = Path(scratch)
        if against is not None:
            return suite.run(against, folder)
        with Cluster(brokers=1) as beside, held_ports(1) as ports:
            alone = own_chroot(beside.zookeeper_connect, "suite")
            with broker_by_hand(folder, _properties(suite, ports[0], alone, folder)):
                broker = OneBroker(ports[0])
                broker.wait_to_know({BROKER_ID})
                return suite.run(f"127.0.0.1:{ports[0]}", folder)


def _properties(suite: Suite, port: int, zookeeper: str, folder: Path) -> dict[str, object]:
    return {
        "broker.id": BROKER_ID,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "zookeeper.connect": zookeeper,
        "log.dirs": folder / "data",
        **ALONE,
        **suite.config,
    }
