"""subscribe(): members of each library, alone and together, come, leave, die and come back."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from logquake.cluster.api import Cluster
from tests.compat.adapters.base import Message, Writing
from tests.compat.adapters.librdkafka import Librdkafka
from tests.compat.group_members import (
    AioKafkaMember,
    CooperativeMember,
    GroupMember,
    KafkaPythonMember,
    LibrdkafkaMember,
    member_process,
    members,
)
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.our_members import OurMember
from tests.waiting import PATIENCE_S, wait_for

PARTITIONS = 4
LIBRARIES: list[type[GroupMember]] = [
    *(LibrdkafkaMember, KafkaPythonMember, AioKafkaMember),
    OurMember,
]
each_library = pytest.mark.parametrize("library", LIBRARIES, ids=lambda each: each.__name__)

_groups = count()


@pytest.fixture
def group() -> str:
    return f"group-{next(_groups)}"


@pytest.fixture
def orders(topic: Callable[..., str]) -> str:
    return topic(partitions=PARTITIONS)


def write(cluster: Cluster, topic: str, *values: bytes) -> None:
    """One to each partition in turn."""
    writer = Librdkafka(cluster.bootstrap_servers)
    for partition in range(PARTITIONS):
        mine = [Message(value) for value in values[partition::PARTITIONS]]
        if mine:
            writer.write(topic, partition, mine, Writing())


def wait_until_shared(topic: str, *sharing: GroupMember) -> None:
    """Until each partition is one member's, and each member has one."""
    everything = [(topic, partition) for partition in range(PARTITIONS)]

    def shares() -> list[set[tuple[str, int]]]:
        return [set(member.assigned) for member in sharing]

    def is_shared(shares: list[set[tuple[str, int]]]) -> bool:
        return all(shares) and sorted(each for share in shares for each in share) == everything

    wait_for(f"{topic} shared by {len(sharing)}", shares, is_shared)


@each_library
def test_a_member_reads_what_it_subscribes_to_and_goes_on_where_it_was(
    cluster: Cluster, orders: str, group: str, library: type[GroupMember]
) -> None:
    first = [b"%d" % number for number in range(20)]
    write(cluster, orders, *first)
    with members(library(cluster.bootstrap_servers, group, [orders])) as (reader,):
        wait_for("all values", lambda: sorted(reader.read), lambda read: read == sorted(first))
    write(cluster, orders, b"later")
    with members(library(cluster.bootstrap_servers, group, [orders])) as (successor,):
        wait_for("the later value", lambda: successor.read, lambda read: b"later" in read)
        assert successor.read == [b"later"]


@each_library
def test_members_share_and_who_leaves_hands_over(
    cluster: Cluster, orders: str, group: str, library: type[GroupMember]
) -> None:
    one = library(cluster.bootstrap_servers, group, [orders])
    with members(one):
        wait_until_shared(orders, one)
        two = library(cluster.bootstrap_servers, group, [orders])
        with members(two):
            wait_until_shared(orders, one, two)
        wait_until_shared(orders, one)


def test_libraries_share_a_group(cluster: Cluster, orders: str, group: str) -> None:
    """All know the assignor range."""
    mixed = [library(cluster.bootstrap_servers, group, [orders]) for library in LIBRARIES]
    with members(*mixed):
        wait_until_shared(orders, *mixed)
        values = [b"%d" % number for number in range(40)]
        write(cluster, orders, *values)
        wait_for(
            "each value with one member",
            lambda: sorted(value for member in mixed for value in member.read),
            lambda read: read == sorted(values),
        )


def test_cooperative_members_take_over_one_by_one(
    cluster: Cluster, orders: str, group: str
) -> None:
    one = CooperativeMember(cluster.bootstrap_servers, group, [orders])
    with members(one):
        wait_until_shared(orders, one)
        with members(CooperativeMember(cluster.bootstrap_servers, group, [orders])) as (two,):
            wait_until_shared(orders, one, two)
        wait_until_shared(orders, one)


def test_a_member_that_dies_is_succeeded_after_its_session(
    cluster: Cluster, orders: str, group: str
) -> None:
    servers = cluster.bootstrap_servers
    with member_process(servers, group, orders, session_timeout_ms=6_000) as mortal:
        assert mortal.stdout is not None
        assert mortal.stdout.readline() == f"{PARTITIONS}\n"
        with members(LibrdkafkaMember(servers, group, [orders])) as (heir,):
            wait_for("a share", lambda: len(heir.assigned), lambda share: 0 < share < PARTITIONS)
            mortal.kill()
            wait_until_shared(orders, heir)


@each_library
def test_a_static_member_restarts_without_a_rebalance(
    cluster: Cluster, orders: str, group: str, library: type[GroupMember]
) -> None:
    servers = cluster.bootstrap_servers
    fixed = LibrdkafkaMember(servers, group, [orders], instance_id="fixed")
    with members(fixed):
        wait_until_shared(orders, fixed)

        def instance() -> GroupMember:
            return library(servers, group, [orders], instance_id="i", session_timeout_ms=60_000)

        with members(instance()) as (restarted,):
            wait_until_shared(orders, fixed, restarted)
            share, rebalances = set(restarted.assigned), fixed.rebalances
        with members(instance()) as (again,):
            wait_for("its share", lambda: set(again.assigned), lambda now: now == share)
        assert fixed.rebalances == rebalances


@pytest.mark.maven
@pytest.mark.slow
def test_java_programs_consume_list_describe_and_delete(
    cluster: Cluster, kafka_programs: KafkaPrograms, orders: str, group: str
) -> None:
    servers = ("--bootstrap-server", cluster.bootstrap_servers)
    patient = ("--timeout", f"{PATIENCE_S * 1000:.0f}")
    values = [b"%d" % number for number in range(8)]
    write(cluster, orders, *values)

    def groups(*arguments: str, said: str = "") -> str:
        tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
        return kafka_programs.run(tool, *servers, *arguments, *patient, said=said)

    consumed = kafka_programs.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *servers,
        *("--topic", orders, "--group", group, "--from-beginning"),
        *("--max-messages", str(len(values))),
        said=f"Processed a total of {len(values)} messages\n",
    )
    assert sorted(consumed.split()) == [value.decode() for value in values]
    assert group in groups("--list").split()
    assert f"{group} Empty" in " ".join(groups("--list", "--state").split())
    nobody = f"\nConsumer group '{group}' has no active members.\n"
    assert f"{group} {orders}" in " ".join(
        groups("--describe", "--group", group, said=nobody).split()
    )
    with members(LibrdkafkaMember(cluster.bootstrap_servers, group, [orders])) as (member,):
        wait_until_shared(orders, member)
        described = groups("--describe", "--group", group, "--members", "--verbose")
        assert "(0,1,2,3)" in described
        assert "/127.0.0.1" in described
        assert "Stable" in groups("--describe", "--group", group, "--state")
    assert f"('{group}') was successful" in groups("--delete", "--group", group)
    assert group not in groups("--list").split()
