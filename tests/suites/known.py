"""The suites that are known here, and how one is run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.api import Cluster
from tests.suites.kafka_python import KafkaPythonSuite
from tests.suites.rust_rdkafka import RustRdkafkaSuite
from tests.suites.suite import Suite

SUITES: Mapping[str, Suite] = {
    "kafka-python": KafkaPythonSuite(),
    "rust-rdkafka": RustRdkafkaSuite(),
}


def run(suite: Suite, against: str | None = None) -> Mapping[str, str]:
    """What each of its tests did: passed, failed, skipped, or error. Raises SuiteError."""
    with tempfile.TemporaryDirectory(prefix="logquake-suite-") as scratch:
        if against is not None:
            return suite.run(against, Path(scratch))
        with Cluster(brokers=suite.brokers, config=suite.config) as kafka:
            return suite.run(kafka.bootstrap_servers, Path(scratch))
