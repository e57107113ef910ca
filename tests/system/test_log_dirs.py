"""Brokers with three log directories each: partitions spread, one disk fails, replicas move.

A directory is made to fail by putting a file in its place, as when a disk is gone from its mount
point: root or not, every path below it is refused from then on (ENOTDIR), while files that are
open still take writes. A disk that is full is a real one: a small tmpfs in a mount namespace.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from logquake.client import Admin
from logquake.client.admin import (
    LogDirDescription,
    NewTopic,
    TopicPartitionInfo,
    TopicPartitionReplica,
)
from logquake.client.errors import BrokerError
from logquake.client.network.effects import Node
from logquake.cluster.api import Cluster
from logquake.cluster.layout import last_line
from logquake.cluster.state import Phase
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from tests.steady_load import steady_load
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

DIRS = 3
PARTITIONS = 9
CONFIG = {"replica.high.watermark.checkpoint.interval.ms": 300, "log.index.size.max.bytes": 65_536}
BY_HAND = """
import json, sys
from pathlib import Path
from logquake.node.process.broker_process import run_broker
from logquake.node.settings import BrokerSettings
settings = BrokerSettings.from_properties(json.loads(sys.argv[1]))
sys.exit(run_broker(settings, Path(sys.argv[2]), ready=lambda: print("ready", flush=True)))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(brokers=3, log_dirs=DIRS, config=CONFIG) as kafka:
        yield kafka


def create(kafka: Cluster, topic: str, **how: Any) -> None:
    with kafka.admin(PATIENCE_S) as admin:
        admin.create_topics([NewTopic(topic, **how)])[topic].result()


def described(kafka: Cluster, topic: str) -> tuple[TopicPartitionInfo, ...]:
    with kafka.admin(PATIENCE_S) as admin:
        return admin.describe_topics([topic])[topic].result().partitions


def ids(nodes: Iterable[Node]) -> list[int]:
    return sorted(node.id for node in nodes)


def leader_of(one: TopicPartitionInfo) -> int | None:
    return one.leader and one.leader.id


def directories(kafka: Cluster, broker: int) -> list[Path]:
    return kafka.layout.data_dirs(broker, DIRS)


def partitions_in(directory: Path, topic: str) -> set[int]:
    return {int(found.name.rpartition("-")[2]) for found in directory.glob(f"{topic}-[0-9]*")}


def wait_until_made(kafka: Cluster, broker: int, topic: str = "spread") -> None:
    wait_for(
        f"{PARTITIONS} partitions of {topic}",
        lambda: shares(kafka, broker, topic),
        lambda found: sum(found) == PARTITIONS,
    )


def shares(kafka: Cluster, broker: int, topic: str = "spread") -> list[int]:
    """How many partitions of a topic each directory has."""
    return [len(partitions_in(one, topic)) for one in directories(kafka, broker)]


class Administrator:
    """What kafka-log-dirs and kafka-reassign-partitions ask of a broker."""

    def __init__(self, servers: str) -> None:
        self._servers = servers

    def log_dirs(self, broker: int) -> Mapping[str, LogDirDescription]:
        with Admin(bootstrap_servers=self._servers) as admin:
            return admin.describe_log_dirs([broker])[broker].result()

    def place_of(self, broker: int, topic: str, partition: int) -> dict[str, bool]:
        """The directories that have it, and whether that is a future."""
        return {
            path: one.replica_infos[TopicPartition(topic, partition)].is_future
            for path, one in self.log_dirs(broker).items()
            if TopicPartition(topic, partition) in one.replica_infos
        }

    def move(self, broker: int, topic: str, partition: int, path: str) -> None:
        replica = TopicPartitionReplica(topic, partition, broker)
        with Admin(bootstrap_servers=self._servers) as admin:
            admin.alter_replica_log_dirs({replica: path})[replica].result()

    def wait_for_place(self, broker: int, topic: str, partition: int, path: str) -> None:
        wait_for(
            f"move to {path}", lambda: self.place_of(broker, topic, partition), {path: False}.__eq__
        )


class Vanished:
    """A directory with a file in its place; heal() puts it back."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._aside = directory.with_name(directory.name + ".aside")
        directory.rename(self._aside)
        directory.write_text("no directory any more\n")

    def heal(self) -> None:
        self.directory.unlink()
        self._aside.rename(self.directory)


class TestSpread:
    def test_every_directory_gets_its_share(self, cluster: Cluster) -> None:
        create(cluster, "spread", num_partitions=PARTITIONS, replication_factor=3)
        for broker in (1, 2, 3):
            wait_until_made(cluster, broker)
            assert min(shares(cluster, broker)) >= 2  # other topics' partitions count too

    def test_they_are_described(self, cluster: Cluster) -> None:
        admin = Administrator(cluster.bootstrap_servers)
        for broker in (1, 2, 3):
            found = admin.log_dirs(broker)
            assert list(found) == [str(one) for one in directories(cluster, broker)]
            assert all(one.error is None and one.usable_bytes for one in found.values())


class TestMoves:
    @pytest.mark.parametrize("role", ["leader", "follower"])
    def test_a_replica_moves_under_load(self, cluster: Cluster, role: str) -> None:
        topic = f"moving-{role}"
        create(
            cluster, topic, replicas_assignments={0: [1, 2, 3]}, configs={"segment.bytes": "100000"}
        )
        broker = 1 if role == "leader" else 2
        admin = Administrator(cluster.bootstrap_servers)
        with steady_load(cluster, topic) as load:
            load.wait_for_acks(1_000)
            for _ in range(DIRS):  # once round
                (source,) = admin.place_of(broker, topic, 0)
                paths = [str(one) for one in directories(cluster, broker)]
                target = paths[(paths.index(source) + 1) % DIRS]
                admin.move(broker, topic, 0, target)
                admin.wait_for_place(broker, topic, 0, target)
                load.wait_for_acks(200)
        load.check()
        wait_for(
            "replicas that are all in sync",
            lambda: [(leader_of(p), ids(p.isr), ids(p.offline)) for p in described(cluster, topic)],
            [(1, [1, 2, 3], [])].__eq__,
        )
        cluster.restart(broker)
        cluster.wait_isr(topic, 0, 3)
        load.check()
        assert admin.place_of(broker, topic, 0) == {target: False}


class TestFailures:
    def test_a_lost_directory_costs_its_own_partitions_their_replica_and_nothing_else(
        self,
    ) -> None:
        with Cluster(brokers=3, log_dirs=DIRS, config=CONFIG) as kafka:
            create(kafka, "orders", num_partitions=PARTITIONS, replication_factor=3)
            wait_until_made(kafka, 1, "orders")
            directory = directories(kafka, 1)[1]
            lost = partitions_in(directory, "orders")
            assert len(lost) == PARTITIONS // DIRS
            with steady_load(kafka, "orders") as load:
                vanished = Vanished(directory)
                wait_until_offline(kafka, "orders", lost)
                load.wait_for_acks(1_000)
                # Whichever broker is asked: each is told by itself.
                wait_for(
                    f"replicas that broker 1 has no more in {sorted(lost)} alone",
                    lambda: described(kafka, "orders"),
                    lambda found: all(_is_as_after_the_loss(one, lost) for one in found),
                )
            load.check()
            self._check_what_is_told(kafka, directory)
            vanished.heal()
            kafka.restart(1)
            for index in lost:
                kafka.wait_isr("orders", index, 3)
            wait_until_offline(kafka, "orders", set())
            load.check()

    def _check_what_is_told(self, kafka: Cluster, directory: Path) -> None:
        member = kafka.state().member("broker-1")
        assert member is not None
        assert member.phase is Phase.RUNNING
        found = Administrator(kafka.bootstrap_servers).log_dirs(1)
        errors = {path: one.error for path, one in found.items()}
        error = errors.pop(str(directory))
        assert isinstance(error, BrokerError)
        assert error.code is ErrorCode.KAFKA_STORAGE_ERROR
        assert set(errors.values()) == {None}
        events = (kafka.layout.events / "broker-1.jsonl").read_text().splitlines()
        told = [one for one in map(json.loads, events) if one["what"] == "log-dir-failed"]
        (event,) = [one for one in told if one["subject"] == str(directory)]
        assert "Not a directory" in event["why"]

    def test_a_broker_ends_with_its_last_directory(self) -> None:
        with Cluster(brokers=2, log_dirs=DIRS, config=CONFIG) as kafka:
            create(kafka, "orders", replicas_assignments=dict.fromkeys(range(DIRS), (1, 2)))
            for directory in directories(kafka, 1):
                Vanished(directory)
            member = wait_for(
                "end of broker-1",
                lambda: kafka.state().member("broker-1"),
                lambda member: member is not None and member.phase is Phase.ENDED,
            )
            assert member is not None
            assert member.ended is not None
            assert member.ended.status == 2
            line = last_line(kafka.layout.log_of("broker-1"))
            assert line.startswith("broker 1: every log directory has failed: ")
            wait_for(
                "partition that broker 2 does not lead",
                lambda: {leader_of(one) for one in described(kafka, "orders")},
                {2}.__eq__,
            )


class TestStart:
    def test_a_directory_that_cannot_be_opened_is_left_out(self) -> None:
        with Cluster(brokers=2, log_dirs=DIRS, config=CONFIG) as kafka:
            create(kafka, "orders", replicas_assignments=dict.fromkeys(range(DIRS), (1, 2)))
            kafka.stop(1)
            directory = directories(kafka, 1)[2]
            lost = partitions_in(directory, "orders")
            vanished = Vanished(directory)
            kafka.start(1)
            kafka.wait_ready()
            wait_until_offline(kafka, "orders", lost)
            vanished.heal()
            kafka.restart(1)
            wait_until_offline(kafka, "orders", set())


def offline(kafka: Cluster, topic: str) -> set[int]:
    return {one.partition for one in described(kafka, topic) if one.offline}


def wait_until_offline(kafka: Cluster, topic: str, partitions: set[int]) -> None:
    wait_for(f"{topic} with {partitions} offline", lambda: offline(kafka, topic), partitions.__eq__)


@pytest.fixture
def tiny_disk() -> None:
    tried = subprocess.run(
        ["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        capture_output=True,
        check=False,
    )
    if tried.returncode != 0:
        pytest.skip(f"no mount in a namespace here: {tried.stderr!r}")


@pytest.mark.usefixtures("tiny_disk")
def test_a_full_disk_hands_its_partitions_over(tmp_path: Path) -> None:
    with Cluster(brokers=2, config=CONFIG) as kafka:
        fill_a_disk(kafka, tmp_path)


def fill_a_disk(cluster: Cluster, tmp_path: Path) -> None:
    """Broker 7 has a directory on a disk of 12 MB, in a mount namespace of its own."""
    roomy, tiny = tmp_path / "roomy", tmp_path / "tiny"
    tiny.mkdir()
    properties = {
        "broker.id": "7",
        "listeners": "PLAINTEXT://127.0.0.1:0",
        "log.dirs": f"{roomy},{tiny}",
        "zookeeper.connect": cluster.state().zookeeper,
        "zookeeper.session.timeout.ms": "2000",
        "replica.lag.time.max.ms": "1000",
    } | {key: str(value) for key, value in CONFIG.items()}
    mounted = ["unshare", "-Urm", "sh", "-c", 'mount -t tmpfs -o size=12m tmpfs "$0" && exec "$@"']
    broker = subprocess.Popen(
        [
            *(*mounted, str(tiny), sys.executable, "-c", BY_HAND),
            *(json.dumps(properties), str(tmp_path / "events")),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert broker.stdout is not None
        assert broker.stdout.readline() == "ready\n"
        create(cluster, "filling", replicas_assignments=dict.fromkeys(range(2), (7, 1, 2)))
        (kept,) = wait_for("partition on the roomy disk", lambda: partitions_in(roomy, "filling"))
        with steady_load(cluster, "filling", value_bytes=20_000) as load:
            wait_until_offline(cluster, "filling", {1 - kept})
            load.wait_for_acks(500)
            found = {one.partition: one for one in described(cluster, "filling")}
        load.check()
        assert leader_of(found[kept]) == 7
        assert leader_of(found[1 - kept]) in (1, 2)
        assert broker.poll() is None
        assert "No space left on device" in (tmp_path / "events").read_text()
    finally:
        broker.kill()
        broker.communicate()


def _is_as_after_the_loss(one: TopicPartitionInfo, lost: set[int]) -> bool:
    """Broker 1 has no replica of those, and leads what it led of the others."""
    is_in_sync, leads = 1 in ids(one.isr), leader_of(one) == 1
    if one.partition in lost:
        return ids(one.offline) == [1] and not is_in_sync and not leads
    return not one.offline and is_in_sync and leads == (one.replicas[0].id == 1)
