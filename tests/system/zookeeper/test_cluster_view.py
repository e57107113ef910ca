"""What a cluster looks like in a real ZooKeeper, however much of it there is."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import ClassVar

from kazoo.client import KazooClient

from logquake.cluster.observing.view import ClusterView
from logquake.cluster.processes.ports import LOOPBACK
from logquake.zk.operations import WatchEvent
from logquake.zk.znodes.brokers import IDS_PATH, BrokerRegistration
from logquake.zk.znodes.control import ControllerNode
from logquake.zk.znodes.topics import (
    PartitionState,
    TopicAssignment,
    partition_path,
    partitions_path,
)
from tests.waiting import PATIENCE_S

PARTITIONS = 500


def test_every_partition_of_a_large_cluster_is_read(zookeeper_port: int) -> None:
    address = f"{LOOPBACK}:{zookeeper_port}"
    _make_topic(address, "orders")
    found: Future[int] = Future()

    def look() -> None:
        with ClusterView(address) as view:
            found.set_result(sum(topic == "orders" for topic, _ in view.all_partitions()))

    Thread(target=look, daemon=True).start()
    assert found.result(PATIENCE_S) == PARTITIONS


def test_to_read_all_partitions_is_not_to_hear_of_each_change(zookeeper_port: int) -> None:
    class Told(ClusterView):
        events: ClassVar[list[WatchEvent]] = []

        def on_watch(self, event: WatchEvent) -> None:
            self.events.append(event)

    address = f"{LOOPBACK}:{zookeeper_port}"
    _make_topic(address, "refunds", partitions=2)
    later = PartitionState(2, 1, (2,), 1)
    with Told(address) as view, _connected(address) as zookeeper:
        assert ("refunds", 1) in view.all_partitions()
        zookeeper.set(PartitionState.path("refunds", 1), later.encode())
        assert view.partition("refunds", 1) == later  # its event would have come before
        assert not Told.events


def test_what_makes_no_sense_is_left_out_and_the_rest_is_shown(zookeeper_port: int) -> None:
    address = f"{LOOPBACK}:{zookeeper_port}"
    _make_topic(address, "payments", partitions=3)
    _make_topic(address, "garbled", partitions=1)
    with _connected(address) as zookeeper:
        zookeeper.set(PartitionState.path("payments", 1), b"garbage")
        zookeeper.set(TopicAssignment.path("garbled"), b"{}")
        zookeeper.create(ControllerNode.path(), b'{"brokerid":"nobody"}')
        zookeeper.create(f"{IDS_PATH}/first", makepath=True)
        zookeeper.create(BrokerRegistration.path(2))
        with ClusterView(address) as view:
            shown = {number for topic, number in view.all_partitions() if topic == "payments"}
            assert shown == {0, 2}
            assert view.partition("payments", 1) is None
            assert "garbled" not in view.assignments()
            assert view.controller() is None
            assert view.live_brokers() == {2}


def _make_topic(address: str, topic: str, partitions: int = PARTITIONS) -> None:
    state = PartitionState(1, 0, (1,), 1).encode()
    assignment = TopicAssignment(bytes(16), dict.fromkeys(range(partitions), (1,)))
    with _connected(address) as zookeeper:
        zookeeper.create(TopicAssignment.path(topic), assignment.encode(), makepath=True)
        zookeeper.create(partitions_path(topic))
        together = zookeeper.transaction()
        for number in range(partitions):
            together.create(partition_path(topic, number))
            together.create(PartitionState.path(topic, number), state)
        together.commit()


@contextmanager
def _connected(address: str) -> Iterator[KazooClient]:
    zookeeper = KazooClient(address)
    zookeeper.start()
    try:
        yield zookeeper
    finally:
        zookeeper.stop()
        zookeeper.close()
