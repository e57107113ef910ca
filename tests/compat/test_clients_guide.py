"""The programs of docs/clients.md do what it says, as they stand there, one after the other."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.docs.programs import Program, programs
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.slow

GUIDE = Path("docs/clients.md")
AS_IT_SAYS = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
}


@pytest.fixture(scope="module")
def servers() -> Iterator[str]:
    with Cluster(brokers=3, config=AS_IT_SAYS) as kafka:
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def secured() -> Iterator[dict[str, str]]:
    with Cluster(brokers=1, secure=True) as kafka:
        assert kafka.security is not None
        user = kafka.security.user
        yield {
            "BOOTSTRAP_SERVERS": kafka.bootstrap_servers,
            "KAFKA_USER": user.name,
            "KAFKA_PASSWORD": user.password,
            "KAFKA_CA": kafka.kafka_config()["ssl.truststore.location"],
        }


def run(program: Program, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program.text],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env={**os.environ, **environment},
    )


def test_each_program_prints_what_stands_behind_it(servers: str, secured: dict[str, str]) -> None:
    guide = list(programs(GUIDE.read_text()))
    assert guide
    for program in guide:
        is_for_secured = "KAFKA_CA" in program.text
        ended = run(program, secured if is_for_secured else {"BOOTSTRAP_SERVERS": servers})
        assert (ended.stdout, ended.stderr) == (program.prints, ""), f"{GUIDE}:{program.line}"


def test_the_address_is_where_the_guide_says() -> None:
    for program in programs(GUIDE.read_text()):
        assert 'environ["BOOTSTRAP_SERVERS"]' in program.text, f"{GUIDE}:{program.line}"
    for key, value in AS_IT_SAYS.items():
        assert f"-c {key}={value}" in GUIDE.read_text()
