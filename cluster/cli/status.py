"""What ``status`` shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from logquake.cluster.cli.output import print_json, print_table, say
from logquake.cluster.errors import ClusterError
from logquake.cluster.running import RunningCluster
from logquake.cluster.state import ClusterState
from logquake.cluster.tables import (
    MEMBER_COLUMNS,
    PARTITION_COLUMNS,
    leader_counts,
    member_rows,
    partition_rows,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.znodes.topics import PartitionState

Partitions = Mapping[TopicPartition, PartitionState]


def show_status(cluster: RunningCluster, *, as_json: bool) -> None:
    """Processes always; leaders if ZooKeeper answers. Raises ClusterError when nothing runs."""
    state = cluster.state()
    controller: int | None = None
    partitions: Partitions | None = None
    try:
        controller, partitions = cluster.view.controller(), cluster.view.all_partitions()
    except ClusterError as error:
        say(f"leaders are not known: {error}")
    finally:
        cluster.close()
    if as_json:
        print_json(_document(state, controller, partitions))
        return
    leads = None if partitions is None else leader_counts(partitions)
    print_table(MEMBER_COLUMNS, member_rows(state, leads))
    print(f"\ncontroller: {'none' if controller is None else controller}")
    if partitions:
        print()
        print_table(PARTITION_COLUMNS, partition_rows(partitions))


def _document(
    state: ClusterState, controller: int | None, partitions: Partitions | None
) -> dict[str, Any]:
    return {
        **state.to_json(),
        "bootstrap_servers": state.bootstrap_servers,
        "controller": controller,
        "leads": None if partitions is None else leader_counts(partitions),
        "partitions": [
            {"topic": topic, "partition": partition, **asdict(one)}
            for (topic, partition), one in sorted((partitions or {}).items())
        ],
    }
