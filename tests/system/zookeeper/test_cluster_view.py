"""What a cluster looks like in a real ZooKeeper, however much of it there is."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from kazoo.client import KazooClient

from logquake.cluster.ports import LOOPBACK
from logquake.cluster.view import ClusterView
from logquake.zk.znodes.topics import (
    PartitionState,
    TopicAssignment,
    partition_path,
    partitions_path,
)

PARTITIONS = 500
PATIENCE_S = 60.0


def test_every_partition_of_a_large_cluster_is_read(zookeeper_port: int) -> None:
    address = f"{LOOPBACK}:{zookeeper_port}"
    _make_topic(address)
    found: Future[int] = Future()

    def look() -> None:
        with ClusterView(address) as view:
            found.set_result(len(view.all_partitions()))

    Thread(target=look, daemon=True).start()
    assert found.result(PATIENCE_S) == PARTITIONS


def _make_topic(address: str) -> None:
    state = PartitionState(1, 0, (1,), 1).encode()
    assignment = TopicAssignment(bytes(16), dict.fromkeys(range(PARTITIONS), (1,)))
    zookeeper = KazooClient(address)
    zookeeper.start()
    try:
        zookeeper.create(TopicAssignment.path("orders"), assignment.encode(), makepath=True)
        zookeeper.create(partitions_path("orders"))
        together = zookeeper.transaction()
        for number in range(PARTITIONS):
            together.create(partition_path("orders", number))
            together.create(PartitionState.path("orders", number), state)
        together.commit()
    finally:
        zookeeper.stop()
        zookeeper.close()
