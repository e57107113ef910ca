"""Every call of Kafka's Java client: ours and a Kafka 3.9 give it the same, error or value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from logquake.cluster.api import Cluster
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.twins import Twin, twins_of

pytestmark = [pytest.mark.maven, pytest.mark.slow]

SOURCES = Path(__file__).with_name("java") / "clients"
SECTIONS = (
    *("topics", "configs", "users", "machines"),
    *("producer", "consumer", "members", "groups", "transactions"),
)
PROPERTIES = {
    "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
    "super.users": "User:ANONYMOUS",
    "delegation.token.secret.key": "hush",
    "auto.create.topics.enable": "false",
    "log.retention.ms": -1,  # records have old times
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
}
MASKED = (
    (re.compile(r"127\.0\.0\.1:\d+"), "BROKER"),
    (re.compile(r"\b1[67]\d{11}\b"), "NOW"),
    (re.compile(r"within \[-?\d+, "), "within [LONG AGO, "),
)

RUN_S = 500

# What is answered in another way than Kafka does, by section: the call, and why.
DIFFERENT = {
    "topics": {
        "create placed-twice": "the words of an error that nobody reads by program",
        "offset of the empty": "the epoch of a record that is deleted already is forgotten",
    },
}

Lines = Mapping[str, Mapping[str, str]]  # by section and call


@pytest.fixture(scope="module")
def said(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Lines, Lines]:
    """By ours and by Kafka's, in one JVM."""
    folder = tmp_path_factory.mktemp("java")
    java = kafka_programs.compiled(SOURCES)
    zookeeper = cluster.zookeeper_connect
    with twins_of(Twin, kafka_programs, zookeeper, folder, PROPERTIES) as twins:
        done = java.complete(
            "JavaClients", *(f"127.0.0.1:{each.port}" for each in twins), timeout_s=RUN_S
        )
    assert done.returncode == 0, done.stderr
    ours, kafkas = (dict(sections_of(part)) for part in done.stdout.split("# broker\n")[1:])
    return ours, kafkas


def sections_of(printed: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for part in printed.split("# section ")[1:]:
        name, *lines = part.splitlines()
        yield name, dict(_call(line) for line in lines)


def _call(line: str) -> tuple[str, str]:
    call, outcome = masked(line).split(" | ", 1)
    return call, outcome


def masked(line: str) -> str:
    """Without what is another one each time."""
    for pattern, name in MASKED:
        line = pattern.sub(name, line)
    return line


@pytest.mark.parametrize("section", SECTIONS)
def test_each_call_gives_the_same(said: tuple[Lines, Lines], section: str) -> None:
    ours, kafkas = (each[section] for each in said)
    listed = DIFFERENT.get(section, {})
    assert _without(ours, listed) == _without(kafkas, listed)
    equal = [call for call in listed if ours[call] == kafkas[call]]
    assert not equal, "these are Kafka's now: their line goes"


def _without(outcomes: Mapping[str, str], calls: Mapping[str, str]) -> Mapping[str, str]:
    return {call: outcome for call, outcome in outcomes.items() if call not in calls}
