"""Brokers that come and go while a cluster with links runs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner

from logquake.client.admin import NewTopic
from logquake.cluster.api import Cluster
from logquake.cluster.cli.app import app
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import read_json
from logquake.cluster.spec import ClusterSpec
from tests.conftest import nothing_left_behind
from tests.waiting import PATIENCE_S

RECORDS = 100


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("membership")
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=3, links=True) as cluster:
        yield cluster


def made(kafka: Cluster, topic: str, *replicas: int) -> str:
    """A topic with one partition and RECORDS in it."""
    wanted = NewTopic(topic, replicas_assignments={0: replicas})
    with kafka.admin(PATIENCE_S) as admin:
        admin.create_topics([wanted])[topic].result()
    kafka.wait_topic(topic)
    send(kafka, topic, acks="all")
    return topic


def send(kafka: Cluster, topic: str, *, acks: str) -> None:
    producer = Producer({**kafka.client_config(), "acks": acks})
    for number in range(RECORDS):
        producer.produce(topic, str(number).encode())
    assert producer.flush(PATIENCE_S) == 0


def delete(kafka: Cluster, *topics: str) -> None:
    with kafka.admin(PATIENCE_S) as admin:
        for deleted in admin.delete_topics(topics).values():
            deleted.result()
    kafka.wait_no_topics(topics, PATIENCE_S)


def lone_peer(kafka: Cluster) -> int:
    """One that is not the controller, whom all have to reach."""
    return min({1, 2, 3} - {kafka.controller()})


def held_on_disk(kafka: Cluster, broker_id: int, topic: str) -> bytes:
    return (kafka.layout.data_of(broker_id) / f"{topic}-0" / f"{0:020}.log").read_bytes()


def test_a_broker_that_is_added_has_links_of_its_own_and_goes_again(kafka: Cluster) -> None:
    before = kafka.state()
    with kafka.add_broker() as added:
        newcomer = int(added.member.removeprefix("broker-"))
        assert newcomer > 3
        assert kafka.bootstrap_servers.startswith(before.bootstrap_servers + ",")
        peer = lone_peer(kafka)
        led, followed = made(kafka, "led", newcomer, peer), made(kafka, "followed", peer, newcomer)
        with kafka.partition({newcomer}, {peer}):
            for topic in (led, followed):  # who has all there is, stays in sync
                send(kafka, topic, acks="1")
            assert kafka.wait_isr(led, 0, size=1, timeout=PATIENCE_S) == (newcomer,)
            assert kafka.wait_isr(followed, 0, size=1, timeout=PATIENCE_S) == (peer,)
        kafka.wait_isr(led, 0, size=2, timeout=PATIENCE_S)
        kafka.wait_isr(followed, 0, size=2, timeout=PATIENCE_S)
        delete(kafka, led, followed)
    assert kafka.state().bootstrap_servers == before.bootstrap_servers
    assert not kafka.layout.data_of(newcomer).exists()
    with pytest.raises(ClusterError, match=f"no link ends at {added.member}"):
        kafka.cut(newcomer, 1)


def test_a_wiped_broker_has_everything_again(kafka: Cluster) -> None:
    topic = made(kafka, "wiped", 1, 2, 3)
    leader = kafka.leader(topic, 0)
    with kafka.wipe(leader) as wiped:
        assert kafka.wait_leader_change(topic, 0, wiped, PATIENCE_S) != leader
    kafka.wait_isr(topic, 0, size=3, timeout=PATIENCE_S)
    assert held_on_disk(kafka, 1, topic) == held_on_disk(kafka, 2, topic)


def test_the_last_replica_in_sync_keeps_its_disk_if_others_are_to_be_spared(
    kafka: Cluster,
) -> None:
    topic = made(kafka, "spared", 2)
    with pytest.raises(ClusterError, match="broker-2 keeps its disk: spared-0 has it in sync"):
        kafka.wipe(2, spare=True)
    kafka.wait_offset(topic, 0, RECORDS, PATIENCE_S)
    delete(kafka, topic)
    kafka.wipe(2, spare=True).heal()


def test_another_broker_takes_the_place_of_one_elsewhere(kafka: Cluster) -> None:
    peer = lone_peer(kafka)
    victim = min({1, 2, 3} - {peer, kafka.controller()})
    topic = made(kafka, "replaced", victim, peer)
    before = kafka.state().member(f"broker-{victim}")
    with kafka.replace(victim):
        assert kafka.state().member(f"broker-{victim}") != before
    kafka.wait_isr(topic, 0, size=2, timeout=PATIENCE_S)
    with kafka.cut(victim, peer, both=True):
        send(kafka, topic, acks="1")
        kafka.wait_isr(topic, 0, size=1, timeout=PATIENCE_S)
    kafka.wait_isr(topic, 0, size=2, timeout=PATIENCE_S)


def test_the_command_line_says_what_is_left_behind_and_the_state_on_disk_follows(
    kafka: Cluster,
) -> None:
    def told(*words: str) -> str:
        folder = ("--data-dir", str(kafka.layout.root))
        return CliRunner().invoke(app, [*words, *folder], catch_exceptions=False).output

    def kept() -> tuple[int, ...]:
        return ClusterSpec.from_json(read_json(kafka.layout.spec) or {}).broker_ids

    assert told("broker", "add", "17") == "broker-17 serves\n"
    assert kept() == (1, 2, 3, 17)
    topic = made(kafka, "left", 1, 17)
    assert told("env").splitlines()[0].count(":") == 4
    left = f"1 partitions still have a replica on broker-17: {topic}-0\n"
    assert told("broker", "remove", "17") == f"broker-17 is removed\n{left}"
    assert kept() == (1, 2, 3)
    with pytest.raises(ClusterError, match="no broker-17 here: there are"):
        told("broker", "wipe", "17")
    assert told("broker", "add", "17") == "broker-17 serves\n"
    kafka.wait_isr(topic, 0, size=2, timeout=PATIENCE_S)
    assert told("broker", "replace", "17", "--new-id") == "broker-18 serves\n"
    assert kept() == (1, 2, 3, 18)
    assert told("broker", "remove", "18") == "broker-18 is removed\n"
