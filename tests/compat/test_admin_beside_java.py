"""Our admin client beside Java's, on ours and on Kafka's brokers: the same calls, the same answers.

What Java's is told by Kafka is what everybody has to be told. Errors are compared by their kind:
their words are the brokers', and `test_java_clients` compares those.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass

import pytest

from logquake.client import Admin
from logquake.cluster.api import Cluster
from tests.compat.admin_calls import (
    configs,
    groups,
    machines,
    reassignments,
    topics,
    transactions,
    users,
)
from tests.compat.admin_calls.aio_in_turns import aio_in_turns
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
    "groups": groups.make,
    "transactions": transactions.make,
}
ERROR = re.compile(r"^(\w+Exception): .*")
ERROR_WITHIN = re.compile(r"Optional\[org\.apache\.kafka\.common\.errors\.(\w+Exception)[^\]]*\]")

_NOT_OF_ADMIN = "of a producer, or what one left behind"

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
    "groups": {
        "all members of the empty removed": "Java's asks for a request that cannot be made",
    },
    "transactions": dict.fromkeys(
        (
            *("begin before anything", "commit", "abort", "commit of nothing"),
            *("what anybody finds amid one", "what stands amid one", "what anybody finds"),
            *("what was committed", "offsets into it", "offsets before its end"),
            *("offsets after it", "offsets of a member that is none", "commit of the fenced"),
            *("commit of the successor", "send of whom an administrator fenced"),
            *("list those older than an hour", "list all", "describe its writers"),
            *("end of what was aborted by hand", "a patience too long", "to an unknown topic"),
        ),
        _NOT_OF_ADMIN,
    ),
}


@dataclass(frozen=True)
class Told:
    """By section and call: Java's client by Kafka, ours by Kafka, and both of ours by ours."""

    java: Lines
    by_kafka: Lines
    by_ours: Lines
    on_loop_by_ours: Lines
    moves: Mapping[str, str]  # by Kafka: brokers of ours move no partitions


@pytest.fixture(scope="module")
def told(
    kafka_programs: KafkaPrograms, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Told:
    """Each on brokers that nobody has asked anything."""
    java = kafka_programs.compiled(SOURCES)
    with ExitStack() as brokers:
        (for_loop, for_java), (ours, kafkas) = (
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
        asked = [
            threads.submit(_said_to, _blocking, kafkas.port),
            threads.submit(_said_to, _blocking, ours.port),
            threads.submit(_said_to, aio_in_turns, for_loop.port),
        ]
        done = java.complete(
            "JavaClients", *SECTIONS, f"127.0.0.1:{for_java.port}", timeout_s=RUN_S
        )
        assert done.returncode == 0, done.stderr
        by_java = dict(sections_of(done.stdout))
        by_kafka, by_ours, on_loop = (each.result(RUN_S) for each in asked)
        return Told(by_java, by_kafka, by_ours, on_loop, _moves_said_to(kafkas.port))


def _blocking(servers: str) -> Admin:
    return Admin(bootstrap_servers=servers)


def said_by_ours(port: int, sections: Iterable[str]) -> Lines:
    """By section and call, what the client that blocks is told by that broker."""
    return _said_to(_blocking, port, sections)


def _said_to(
    new_admin: Callable[[str], AbstractContextManager[Admin]],
    port: int,
    sections: Iterable[str] = tuple(SECTIONS),
) -> Lines:
    servers = f"127.0.0.1:{port}"
    with new_admin(servers) as admin:
        return {section: _said_in(section, admin, servers) for section in sections}


def _moves_said_to(port: int) -> Mapping[str, str]:
    servers, said = f"127.0.0.1:{port}", Said()
    with _blocking(servers) as admin:
        reassignments.make(admin, servers, said)
    return said.lines


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
    elsewhere = ELSEWHERE[section]
    expected = kinds_but(elsewhere, told.java[section])
    by_kafka = kinds_but(elsewhere, told.by_kafka[section])
    assert by_kafka == expected
    for by_ours in (told.by_ours[section], told.on_loop_by_ours[section]):
        left_out = {**elsewhere, **DIFFERENT.get(section, {})}
        assert kinds_but(left_out, by_ours) == kinds_but(left_out, expected)


def test_partitions_are_moved_as_kafka_moves_them(told: Told) -> None:
    assert told.moves == reassignments.SAID


def kinds_but(calls: Mapping[str, str], outcomes: Mapping[str, str]) -> dict[str, str]:
    """Of all other calls."""
    return {call: each for call, each in _kinds(outcomes).items() if call not in calls}
