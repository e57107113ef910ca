"""kafka-python's own integration tests, from its source distribution.

The distribution lacks two of their modules: the package's own, and the one that starts brokers,
which nobody asks of it where a cluster runs already.
"""

from __future__ import annotations

import sys
import tarfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

from tests.suites.commands import must_succeed, run_to_end
from tests.suites.suite import CACHE, PASSED, Brokers, SuiteError

FETCH_S = 120
RUN_S = 900
TEST_S = 120
KAFKA_VERSION = "3.9.1"  # which features it asks for
ALONE = ("-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider")
OUTCOMES = {"failure": "failed", "skipped": "skipped", "error": "error"}
SERVICE = '''class ExternalService:
    """A broker that somebody else has started."""

    def __init__(self, host, port):
        self.host, self.port = host, port

    def open(self):
        pass

    start = stop = close = open


class SpawnedService:
    pass
'''


class KafkaPythonSuite:
    what = "kafka-python's integration tests, from its source distribution"

    def brokers(self, scratch: Path) -> Brokers:  # noqa: ARG002
        return Brokers(
            {
                "num.partitions": 4,  # as its own fixture
                "group.initial.rebalance.delay.ms": 0,  # as a Kafka that is started from its box
                "group.min.session.timeout.ms": 3_000,  # its group test asks for no more
                "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
                "allow.everyone.if.no.acl.found": "true",
            }
        )

    def run(self, servers: str, scratch: Path, only: str | None) -> Mapping[str, str]:
        source = unpacked_source()
        report = scratch / "report.xml"
        pytest = [sys.executable, "-m", "pytest", "-q", "test/integration", *ALONE]
        if only is not None:
            pytest += ["-k", only]
        _, printed = run_to_end(
            [*pytest, f"--junitxml={report}", "-o", f"addopts=--timeout={TEST_S}"],
            timeout_s=RUN_S,
            cwd=source,
            env={
                "KAFKA_URI": f"kafka://{servers.split(',')[0]}",
                "KAFKA_VERSION": KAFKA_VERSION,
                "KAFKA_ROOT": str(scratch),
                "PYTHONPATH": str(source),
            },
        )
        if not report.exists():
            raise SuiteError(f"pytest wrote no report:\n{printed}")
        return dict(_outcomes(report))


def unpacked_source() -> Path:
    """Fetched and completed, of the release that is installed. Raises SuiteError."""
    name = f"kafka_python-{version('kafka-python')}"
    unpacked = CACHE / name
    if not (unpacked / "test" / "service.py").exists():
        with tarfile.open(_fetched(name)) as archive:
            archive.extractall(CACHE, filter="data")
        (unpacked / "test" / "__init__.py").touch()
        (unpacked / "test" / "service.py").write_text(SERVICE)
    return unpacked


def _fetched(name: str) -> Path:
    archive = CACHE / f"{name}.tar.gz"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary=:all:"]
        wanted = f"kafka-python=={version('kafka-python')}"
        must_succeed([*pip, "--dest", str(CACHE), wanted], timeout_s=FETCH_S, cwd=CACHE)
    return archive


def _outcomes(report: Path) -> Iterator[tuple[str, str]]:
    for case in ElementTree.parse(report).iter("testcase"):
        outcome = next((OUTCOMES[each.tag] for each in case if each.tag in OUTCOMES), PASSED)
        module = str(case.get("classname")).removeprefix("test.integration.")
        yield f"{module}::{case.get('name')}", outcome
