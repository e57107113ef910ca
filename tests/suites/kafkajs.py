"""kafkajs' own tests of what speaks to brokers, from its repository, as it is published without.

They know the ports of three brokers and the users of one of their listeners. Two of them run a
script of the repository's that asks docker to run a tool of Kafka's in a broker's container: on
their path is a program of that name, which does it to the brokers of the suite.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)

from logquake.cluster.security.certificates import Authority
from tests.suites import kafkajs_docker
from tests.suites.commands import must_succeed, run_to_end
from tests.suites.suite import CACHE, PASSED, Brokers, SuiteError

RELEASE = "2.2.4"
REPOSITORY = "https://github.com/tulios/kafkajs"
KAFKA_VERSION = "3.9.1"  # which features it asks for
FETCH_S = 600
RUN_S = 1_500
ADMIN_S = 30
ASKS_BROKERS = "src/(admin|broker|cluster|consumer|producer)/"
JEST = ("--ci", "--maxWorkers=2", "--no-watchman", "--forceExit")
REPORT = {
    "JEST_JUNIT_CLASSNAME": "{filepath}",
    "JEST_JUNIT_TITLE": "{classname} > {title}",
    "JEST_JUNIT_ANCESTOR_SEPARATOR": " > ",
}
OUTCOMES = {"failure": "failed", "skipped": "skipped", "error": "error"}
EXISTING = NewTopic("test-topic-already-exists", 2, 1)
SCRAM = {
    ScramMechanism.SCRAM_SHA_256: b"testtestscram=256",
    ScramMechanism.SCRAM_SHA_512: b"testtestscram=512",
}
_SECURITY = "org.apache.kafka.common.security"


class KafkaJsSuite:
    what = "kafkajs' tests, from its repository (wants node, npm and git)"

    def brokers(self, scratch: Path) -> Brokers:
        """As its authors' docker-compose.2_4.yml has them."""
        pem = scratch / "broker.pem"
        issued = Authority("kafkajs", datetime.now(UTC)).issue("broker", ["localhost"])
        pem.write_text(issued.certificate + issued.key)
        of_sasl = "listener.name.sasl_ssl"
        scram = f"{_SECURITY}.scram.ScramLoginModule required;"
        return Brokers(
            {
                "num.partitions": 2,
                "default.replication.factor": 2,
                "group.initial.rebalance.delay.ms": 0,
                "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
                "allow.everyone.if.no.acl.found": "true",
                "ssl.keystore.type": "PEM",
                "ssl.keystore.location": pem,
                "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
                f"{of_sasl}.plain.sasl.jaas.config": f"{_SECURITY}.plain.PlainLoginModule required "
                'user_test="testtest" user_bob="bobbob" user_alice="alicealice";',
                f"{of_sasl}.scram-sha-256.sasl.jaas.config": scram,
                f"{of_sasl}.scram-sha-512.sasl.jaas.config": scram,
            },
            count=3,
            protocols=("PLAINTEXT", "SSL", "SASL_SSL"),
            first_port=9092,
        )

    def run(self, servers: str, scratch: Path, only: str | None) -> Mapping[str, str]:
        source = _source()
        _prepare(servers)
        report = scratch / "report.xml"
        _, printed = run_to_end(
            ["node_modules/.bin/jest", *JEST, "--testPathPattern", only or ASKS_BROKERS],
            timeout_s=RUN_S,
            cwd=source,
            env={
                **REPORT,
                "JEST_JUNIT_OUTPUT_DIR": str(scratch),
                "JEST_JUNIT_OUTPUT_NAME": report.name,
                "KAFKA_VERSION": KAFKA_VERSION,
                "KAFKAJS_DEBUG_PROTOCOL_BUFFERS": "1",
                "NODE_ENV": "test",
                "PATH": f"{_docker(servers, scratch)}:{os.environ['PATH']}",
            },
        )
        if not report.exists():
            raise SuiteError(f"jest wrote no report:\n{printed}")
        return outcomes(report.read_text())


def _source() -> Path:
    """A clone, with what its tests need of npm's; none of its packages' scripts is run."""
    clone = CACHE / f"kafkajs-{RELEASE}"
    if missing := [each for each in ("git", "npm", "node") if shutil.which(each) is None]:
        raise SuiteError(f"{', '.join(missing)} not on the path")
    if not clone.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        tag = ("--branch", f"v{RELEASE}", "--depth", "1")
        must_succeed(
            ["git", "clone", "-q", *tag, REPOSITORY, str(clone)], timeout_s=FETCH_S, cwd=CACHE
        )
    if not (clone / "node_modules").exists():
        npm = ["npm", "install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"]
        must_succeed(npm, timeout_s=FETCH_S, cwd=clone)
    return clone


def _prepare(servers: str) -> None:
    """What its scripts waitForKafka.js and createScramCredentials.sh do first."""
    admin = AdminClient({"bootstrap.servers": servers})
    users: list[UserScramCredentialAlteration] = [
        UserScramCredentialUpsertion("testscram", ScramCredentialInfo(mechanism, 8192), password)
        for mechanism, password in SCRAM.items()
    ]
    for done in admin.alter_user_scram_credentials(users).values():
        done.result(ADMIN_S)
    for done in admin.create_topics([EXISTING]).values():
        done.result(ADMIN_S)


def _docker(servers: str, scratch: Path) -> Path:
    """The folder with the program."""
    folder = scratch / "bin"
    folder.mkdir()
    program = folder / "docker"
    command = shlex.join([sys.executable, str(kafkajs_docker.__file__), servers])
    program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
    program.chmod(0o755)
    return folder


def outcomes(report: str) -> dict[str, str]:
    """What jest-junit wrote; of tests that share a name, the worst."""
    found: dict[str, str] = {}
    for test, outcome in _cases(report):
        if found.get(test, PASSED) == PASSED:
            found[test] = outcome
    return found


def _cases(report: str) -> Iterator[tuple[str, str]]:
    for case in ElementTree.fromstring(report).iter("testcase"):
        outcome = next((OUTCOMES[each.tag] for each in case if each.tag in OUTCOMES), PASSED)
        title = " ".join(str(case.get("name")).split())
        yield f"{case.get('classname')}: {title}", outcome
