"""Before a broker is killed: whatever it leads has somebody to lead it next."""

from __future__ import annotations

from operator import not_

from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import PATIENCE_S, wait_for


def wait_until_all_in_sync(cluster: RunningCluster, timeout_s: float = PATIENCE_S) -> None:
    """Until every partition of every topic has all its replicas in sync."""

    def lagging() -> list[TopicPartition]:
        placed = cluster.view.assignments()
        return [
            one
            for one, state in cluster.view.all_partitions().items()
            if len(state.isr) < len(placed[one.topic].partitions[one.partition])
        ]

    wait_for("replicas that are all in sync", lagging, not_, timeout_s=timeout_s)
