"""Members of our own share groups with those of Kafka's Java consumer, librdkafka, kafka-python and
aiokafka, on our brokers and on those of Kafka 3.9 and 4.1; their listeners hear what Java's do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from logquake.cluster.api import Cluster
from tests.compat import members_tale
from tests.compat.group_members import (
    AioKafkaMember,
    CooperativeMember,
    GroupMember,
    KafkaPythonMember,
    LibrdkafkaMember,
    members,
)
from tests.compat.group_places import (
    PROPERTIES,
    Place,
    place_of,
    wait_until_read,
    wait_until_shared,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.our_members import (
    JAVA_SOURCES,
    CooperativeJavaMember,
    JavaMember,
    OurCooperativeMember,
)
from tests.compat.releases import KINDS, Releases, releases
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.slow, pytest.mark.maven]

JAVA_CLIENTS = JAVA_SOURCES.with_name("clients")


@pytest.fixture(scope="module")
def brokers(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Releases]:
    folder = tmp_path_factory.mktemp("libraries")
    with releases(folder, cluster.zookeeper_connect, PROPERTIES) as each:
        yield each


_numbers = count()


@pytest.fixture(params=KINDS)
def place(brokers: Releases, request: pytest.FixtureRequest) -> Place:
    return place_of(brokers[request.param], next(_numbers))


@pytest.fixture(scope="module")
def java(kafka_programs: KafkaPrograms) -> KafkaPrograms:
    return kafka_programs.compiled(JAVA_SOURCES)


@pytest.mark.parametrize(
    "other", [LibrdkafkaMember, KafkaPythonMember, AioKafkaMember], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("leads", ["we lead", "they lead"])
def test_a_group_is_shared_with_other_libraries(
    place: Place, other: type[GroupMember], leads: str
) -> None:
    """Whoever joined first leads."""

    def theirs() -> GroupMember:
        return other(place.servers, place.group, [place.topic])

    with ExitStack() as stack:
        sharing: list[GroupMember] = []
        for make in (place.ours, theirs) if leads == "we lead" else (theirs, place.ours):
            sharing += stack.enter_context(members(make()))
            wait_until_shared(place, *sharing)
        wait_until_read(place, sharing, [f"v{number}" for number in range(16)])


def test_a_group_is_shared_with_the_java_client(place: Place, java: KafkaPrograms) -> None:
    with members(place.ours(), JavaMember(java, place.servers, place.group, [place.topic])) as both:
        wait_until_shared(place, *both)
        wait_until_read(place, list(both), [f"v{number}" for number in range(16)])


def test_cooperative_members_of_three_libraries_share_a_group(
    place: Place, java: KafkaPrograms
) -> None:
    of = (place.servers, place.group, [place.topic])
    with members(place.ours(OurCooperativeMember), CooperativeMember(*of)) as two:
        wait_until_shared(place, *two)
        with members(CooperativeJavaMember(java, *of)) as (third,):
            wait_until_shared(place, *two, third)
            wait_until_read(place, [*two, third], [f"v{number}" for number in range(16)])
        wait_until_shared(place, *two)


def test_listeners_hear_what_those_of_java_do(
    brokers: Releases, kafka_programs: KafkaPrograms
) -> None:
    """With each assignor, as members come and go."""
    servers = f"127.0.0.1:{brokers['3.9'].port}"
    done = kafka_programs.compiled(JAVA_CLIENTS).complete(
        "JavaClients", "members", servers, timeout_s=PATIENCE_S
    )
    assert done.returncode == 0, done.stderr
    javas = dict(line.split(" | ", 1) for line in done.stdout.splitlines() if " | " in line)
    ours = members_tale.told(servers)
    fenced = ours.pop("static: whose name was taken")
    assert (fenced, javas["static: whose name was taken"].split(":")[0]) == (
        "FENCED_INSTANCE_ID",
        "FencedInstanceIdException",
    )
    assert ours == {call: javas[call] for call in ours}
