"""Our admin client beside Java's, on ours and on Kafka's brokers: the same calls, the same answers.

What Java's is told by Kafka is what everybody has to be told. Errors are compared by their kind:
their words are the brokers', and `test_java_clients` compares those.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from logquake.client import Admin
from logquake.cluster.api import Cluster
from tests.compat.admin_calls import configs, machines, topics, users
from tests.compat.admin_calls.said import Said
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.test_java_clients import (
    DIFFERENT,
    PROPERTIES,
    RUN_S,
    SOURCES,
    Lines,
    masked,
    sections_of,
)
from tests.compat.twins import Twin, twins_of

pytestmark = [pytest.mark.maven, pytest.mark.slow]

SECTIONS = {
    "topics": topics.make,
    "configs": configs.make,
    "users": users.make,
    "machines": machines.make,
}
ERROR = re.compile(r"^(\w+Exception): .*")
ERROR_WITHIN = re.compile(r"Optional\[org\.apache\.kafka\.common\.errors\.(\w+Exception)[^\]]*\]")

# Calls of Java's that have no like here, by section: the call, and why.
ELSEWHERE = {
    "topics": {},
    "configs": {
        "set of no broker": "a broker's name has to be a number: the call raises ValueError",
        "describe BROKER 1 super.users": "the test in Java trips over what is not there",
    },
    "users": {
        "create (pattern=ResourcePattern(resourceType=TOPIC, name=t, patternType=LITERAL), "
        "entry=(principal=alice, host=*, operation=READ, permissionType=ALLOW))": (
            "a principal that has no type cannot be written down"
        ),
    },
    "machines": {"client instance id": "Java's hides why: no broker beside ZooKeeper knows of it"},
}


@dataclass(frozen=True)
class Told:
    """By section and call: Java's client by Kafka, ours by each of the two."""

    java: Lines
    by_ours: Lines
    by_kafka: Lines


@pytest.fixture(scope="module")
def told(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """Each on brokers that nobody has asked anything."""
    java = kafka_programs.compiled(SOURCES)
    with ExitStack() as brokers:
        (_, for_java), (ours, kafkas) = (
            brokers.enter_context(
                twins_of(
                    Twin,
                    kafka_programs,
                    cluster.zookeeper_connect,
                    tmp_path_factory.mktemp(name),
                    PROPERTIES,
                )
            )
            for name in ("java", "python")
        )
        threads = brokers.enter_context(ThreadPoolExecutor(3))
        by_ours, by_kafka = (threads.submit(_said_by, twin.port) for twin in (ours, kafkas))
        done = java.complete(
            "JavaClients", *SECTIONS, f"127.0.0.1:{for_java.port}", timeout_s=RUN_S
        )
        assert done.returncode == 0, done.stderr
        return Told(dict(sections_of(done.stdout)), by_ours.result(RUN_S), by_kafka.result(RUN_S))


def _said_by(port: int) -> Lines:
    servers = f"127.0.0.1:{port}"
    with Admin(bootstrap_servers=servers) as admin:
        return {section: _said_in(section, admin, servers) for section in SECTIONS}


def _said_in(section: str, admin: Admin, servers: str) -> Mapping[str, str]:
    said = Said()
    SECTIONS[section](admin, servers, said)
    return {call: masked(outcome) for call, outcome in said.lines.items()}


def _kinds(outcomes: Mapping[str, str]) -> dict[str, str]:
    """Of errors no more than their names."""
    named = {call: ERROR.sub(r"\1", outcome) for call, outcome in outcomes.items()}
    return {call: ERROR_WITHIN.sub(r"Optional[\1]", outcome) for call, outcome in named.items()}


@pytest.mark.parametrize("section", SECTIONS)
def test_each_call_gives_what_java_is_given(told: Told, section: str) -> None:
    expected = {
        call: outcome
        for call, outcome in _kinds(told.java[section]).items()
        if call not in ELSEWHERE[section]
    }
    by_kafka = _kinds(told.by_kafka[section])
    assert {call: by_kafka[call] for call in expected} == expected
    different = DIFFERENT.get(section, {})
    by_ours = _kinds(told.by_ours[section])
    asked = [call for call in expected if call not in different]
    assert {call: by_ours[call] for call in asked} == {call: expected[call] for call in asked}
