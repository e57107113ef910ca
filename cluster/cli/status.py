"""What ``status`` shows: processes, leaders, what is broken, and what the brokers coordinate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from logquake.client.settings import Address
from logquake.cluster.cli.output import print_json, print_table, say
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.coordinated import Coordinated, coordinated_by
from logquake.cluster.observing.tables import (
    FAULT_COLUMNS,
    GROUP_COLUMNS,
    MEMBER_COLUMNS,
    PARTITION_COLUMNS,
    TRANSACTION_COLUMNS,
    fault_rows,
    group_rows,
    leader_counts,
    member_rows,
    partition_rows,
    state_counts,
    transaction_rows,
)
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import ClusterState, Phase
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
    faults = _faults(cluster)
    coordinated = _coordinated(cluster, state)
    if as_json:
        print_json(_document(state, controller, partitions, faults, coordinated))
        return
    leads = None if partitions is None else leader_counts(partitions)
    print_table(MEMBER_COLUMNS, member_rows(state, leads))
    print(f"\ncontroller: {'none' if controller is None else controller}")
    if state.planted_bugs:
        print(f"PLANTED BUGS: {', '.join(state.planted_bugs)}: these brokers are wrong on purpose")
    if partitions:
        print()
        print_table(PARTITION_COLUMNS, partition_rows(partitions))
    if faults:
        print()
        print_table(FAULT_COLUMNS, fault_rows(faults))
    _show_coordinated(coordinated)


def _faults(cluster: RunningCluster) -> list[dict[str, Any]]:
    try:
        return cluster.standing_faults()
    except ClusterError as error:
        say(f"what is broken is not known: {error}")
        return []


def _coordinated(cluster: RunningCluster, state: ClusterState) -> Coordinated:
    """A frozen broker is not asked: it would not answer."""
    running = {
        one.broker_id: Address(one.host, one.port)
        for one in state.brokers
        if one.phase is Phase.RUNNING and one.broker_id is not None
    }
    found = coordinated_by(running, cluster.way_in)
    for reason in found.unknown:
        say(f"not known: {reason}")
    return found


def _show_coordinated(coordinated: Coordinated) -> None:
    print(f"\ngroups: {state_counts(each.state for each in coordinated.groups)}")
    print(f"transactions: {state_counts(each.state for each in coordinated.transactions)}")
    if coordinated.groups:
        print()
        print_table(GROUP_COLUMNS, group_rows(coordinated.groups))
    if coordinated.open_transactions:
        print()
        print_table(TRANSACTION_COLUMNS, transaction_rows(coordinated.open_transactions))


def _document(
    state: ClusterState,
    controller: int | None,
    partitions: Partitions | None,
    faults: list[dict[str, Any]],
    coordinated: Coordinated,
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
        "faults": faults,
        "groups": [group._asdict() for group in coordinated.groups],
        "transactions": [one._asdict() for one in coordinated.transactions],
        "open_transactions": [
            {**one._asdict(), "partitions": [place._asdict() for place in one.partitions]}
            for one in coordinated.open_transactions
        ],
    }
