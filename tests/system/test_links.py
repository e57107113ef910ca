"""A cluster with links between all that belong to it, broken one after the other."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing

import pytest
from confluent_kafka import Producer

from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.observing.broker_probe import BrokerProbe
from logquake.cluster.running.cluster import RunningCluster
from tests.conftest import nothing_left_behind
from tests.system.conftest import CommandLine
from tests.waiting import PATIENCE_S, wait_for

BREAK_AND_STAY = """
import sys, time
from pathlib import Path
from logquake.cluster.layout import Layout
from logquake.cluster.running.cluster import RunningCluster
cluster = RunningCluster(Layout(Path(sys.argv[1])))
cluster.cut("clients", 1)
print("broken", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("links")
    with nothing_left_behind(folder / "temporary"), Cluster(brokers=3, links=True) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def whole(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test leaves anything broken to the next one."""
    yield
    if "kafka" in request.fixturenames:
        assert request.getfixturevalue("kafka").link_faults() == []


@pytest.fixture
def topic(kafka: Cluster, request: pytest.FixtureRequest) -> str:
    name = kafka.create_topic(request.node.name, partitions=1, replication_factor=3)
    kafka.wait_isr(name, 0, size=3, timeout=PATIENCE_S)
    return name


def delivered(kafka: RunningCluster, topic: str) -> int:
    """The offset of a record that all replicas in sync have."""
    offsets: list[int | None] = []
    producer = Producer({**kafka.client_config(), "acks": "all"})
    producer.produce(topic, b"value", on_delivery=lambda _, sent: offsets.append(sent.offset()))
    assert producer.flush(PATIENCE_S) == 0
    [offset] = offsets
    assert offset is not None
    return offset


def lone_follower(kafka: Cluster, topic: str) -> int:
    """One that is not the controller, so that the others can go on without it."""
    return min({1, 2, 3} - {kafka.leader(topic, 0), kafka.controller()})


def journals(kafka: Cluster) -> str:
    return "".join(each.read_text() for each in kafka.layout.events.glob("*.jsonl"))


def test_an_isolated_leader_is_replaced(kafka: Cluster, topic: str) -> None:
    leader = kafka.leader(topic, 0)
    delivered(kafka, topic)
    with kafka.isolate(leader) as fault:
        successor = kafka.wait_leader_change(topic, 0, since=fault, timeout=PATIENCE_S)
        assert successor != leader
        assert delivered(kafka, topic) == 1
    kafka.wait_isr(topic, 0, size=3, timeout=PATIENCE_S)


def test_a_partition_keeps_a_follower_out_of_the_isr(kafka: Cluster, topic: str) -> None:
    follower = lone_follower(kafka, topic)
    with kafka.partition({follower}, {1, 2, 3} - {follower}):
        delivered(kafka, topic)  # once the others go on without it
        assert follower not in kafka.isr(topic, 0)
    kafka.wait_isr(topic, 0, size=3, timeout=PATIENCE_S)


def test_a_cut_of_one_direction_is_enough(kafka: Cluster, topic: str) -> None:
    """The follower's requests arrive, the leader's answers do not."""
    follower = lone_follower(kafka, topic)
    with kafka.cut(kafka.leader(topic, 0), follower):
        delivered(kafka, topic)
        assert follower not in kafka.isr(topic, 0)
    kafka.wait_isr(topic, 0, size=3, timeout=PATIENCE_S)


def test_a_delay_is_seen_by_clients(kafka: Cluster) -> None:
    with asking(kafka, 2) as probe:
        wait_for("answer", probe.ask)
        with kafka.delay("clients", 2, 300):
            began = time.monotonic()
            wait_for("answer", probe.ask)
            assert time.monotonic() - began >= 0.3


def test_a_reset_link_refuses_and_is_mended(kafka: Cluster) -> None:
    with kafka.reset("clients", 3), pytest.raises(ConnectionRefusedError):
        socket.create_connection(address(kafka, 3))
    with asking(kafka, 3) as probe:
        wait_for("answer", probe.ask)


def test_a_dead_broker_refuses_its_peers(kafka: Cluster, topic: str) -> None:
    """By that they notice, long before its session ends: the journal says so."""
    with kafka.kill(lone_follower(kafka, topic)):
        delivered(kafka, topic)
        wait_for("word of a refusal", lambda: "its address refuses connections" in journals(kafka))
    kafka.wait_isr(topic, 0, size=3, timeout=PATIENCE_S)


def test_links_heal_when_whoever_broke_them_is_killed(kafka: Cluster) -> None:
    program = [sys.executable, "-c", BREAK_AND_STAY, str(kafka.layout.root)]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout is not None
        assert harness.stdout.readline() == "broken\n"
        assert len(kafka.link_faults()) == 1
        harness.send_signal(signal.SIGKILL)
    wait_for("healed link", kafka.link_faults, lambda faults: not faults)


def test_an_end_that_is_not_there_is_told(kafka: Cluster) -> None:
    with pytest.raises(ClusterError, match="no link ends at broker-7: there are broker-1, "):
        kafka.cut("broker-7", "clients")


def test_faults_of_the_command_line_stay_until_they_are_healed(
    kafka: Cluster, logquake: CommandLine
) -> None:
    here = ("--data-dir", str(kafka.layout.root))
    logquake.ok("fault", "partition", "1,2:3", *here)
    logquake.ok("fault", "delay", "clients", "controller", "--ms", "20", "--both", *here)
    logquake.ok("fault", "rate", "1", "zookeeper", "--bytes-per-s", "1e6", "--for", "600s", *here)
    table = logquake.ok("fault", "list", *here)
    assert "cut: broker-1,broker-2 -> broker-3; broker-3 -> broker-1,broker-2" in table
    assert "rate 1e+06 B/s: broker-1 -> zookeeper" in table
    assert "rate 1e+06 B/s: broker-1 -> zookeeper" in logquake.ok("status", *here)
    ids = [str(fault["id"]) for fault in kafka.link_faults()]
    assert logquake.ok("fault", "heal", ids[0], *here) == f"healed {ids[0]}\n"
    assert logquake.ok("fault", "heal", ids[0], *here) == f"{ids[0]} held no longer\n"
    assert logquake.ok("fault", "heal", *here) == "healed 2\n"


def test_a_fault_ends_in_time(kafka: Cluster, logquake: CommandLine) -> None:
    here = ("--data-dir", str(kafka.layout.root))
    logquake.ok("fault", "cut", "1", "2", "--for", "1ms", *here)
    wait_for("healed link", kafka.link_faults, lambda faults: not faults)


def test_the_links_are_a_member_like_others(kafka: Cluster) -> None:
    """Started again they are as before, and nothing is broken."""
    with kafka.cut("clients", 2):
        with kafka.kill("links"), pytest.raises(ClusterError, match="links"):
            kafka.link_faults()
        assert kafka.link_faults() == []
    with asking(kafka, 2) as probe:
        wait_for("answer", probe.ask)


def test_a_secure_cluster_has_links_too(logquake: CommandLine) -> None:
    logquake.ok("up", "-d", "-n", "1", "--any-port", "--links", "--secure", "--wait", "90s")
    kafka = RunningCluster(Layout(logquake.home / "default"))
    try:
        topic = kafka.create_topic("orders")
        assert delivered(kafka, topic) == 0
        with kafka.delay("clients", 1, 20, both=True):
            assert delivered(kafka, topic) == 1
    finally:
        kafka.close()
        logquake.ok("down")


def asking(kafka: Cluster, broker_id: int) -> AbstractContextManager[BrokerProbe]:
    """Someone who asks a broker for metadata, as a client."""
    [broker] = [one for one in kafka.state().brokers if one.broker_id == broker_id]
    return closing(BrokerProbe(broker.host, broker.port, kafka.way_in))


def address(kafka: RunningCluster, broker_id: int) -> tuple[str, int]:
    [broker] = [one for one in kafka.state().brokers if one.broker_id == broker_id]
    return broker.host, broker.port
