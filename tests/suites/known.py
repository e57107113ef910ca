"""The suites that are known here, and how one is run."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.suites.kafka_python import KafkaPythonSuite
from tests.suites.kafkajs import KafkaJsSuite
from tests.suites.rust_rdkafka import RustRdkafkaSuite
from tests.suites.started import started
from tests.suites.suite import Suite

SUITES: Mapping[str, Suite] = {
    "kafka-python": KafkaPythonSuite(),
    "kafkajs": KafkaJsSuite(),
    "rust-rdkafka": RustRdkafkaSuite(),
}


def run(
    suite: Suite, against: str | None = None, *, kafkas: bool = False, only: str | None = None
) -> Mapping[str, str]:
    """What each of its tests did: passed, failed, skipped, or error. Raises SuiteError."""
    with tempfile.TemporaryDirectory(prefix="logquake-suite-") as scratch:
        folder = Path(scratch)
        if against is not None:
            return suite.run(against, folder, only)
        with started(suite.brokers(folder), folder, kafkas=kafkas) as servers:
            return suite.run(servers, folder, only)
