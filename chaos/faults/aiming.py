"""Whom a fault means at the moment when it is begun."""

from __future__ import annotations

from logquake.chaos.faults.clients import KillClient, PauseClient
from logquake.chaos.faults.links import Inject, Partition
from logquake.chaos.faults.membership import AddBroker
from logquake.chaos.faults.value import FaultValue
from logquake.cluster.links.effects import CLIENTS
from logquake.cluster.observing.targets import ZOOKEEPER_ROLES
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import ZOOKEEPER, is_zookeeper

_AIMED = ("source", "target")


def aimed(fault: FaultValue, cluster: RunningCluster) -> FaultValue:
    """The same with members' names in place of roles: what leads now may not lead when it is read.

    Raises ClusterError where nobody has the role.
    """
    return fault.model_copy(
        update={
            field: ",".join(_member(end.strip(), cluster) for end in ends.split(","))
            for field in _AIMED
            if isinstance(ends := getattr(fault, field, None), str)
        }
    )


def _member(end: str, cluster: RunningCluster) -> str:
    """Servers of a ZooKeeper that is somebody else's are no members."""
    is_name = end == CLIENTS or (is_zookeeper(end) and end not in ZOOKEEPER_ROLES)
    return end if is_name else cluster.member_name(end)


def subject_of(fault: FaultValue) -> str:
    """What its rows are about: ``broker-2``, ``broker-1->broker-2``, ``broker-1|broker-2``."""
    if isinstance(fault, Partition):
        return "|".join(",".join(f"broker-{one}" for one in group) for group in fault.groups)
    if isinstance(fault, Inject):
        target = fault.target or "brokers"
        return f"{fault.source}->{target}" if fault.source else target
    if isinstance(fault, PauseClient | KillClient):
        return fault.client
    if isinstance(fault, AddBroker):
        return "brokers"
    ends = [getattr(fault, field) for field in _AIMED if hasattr(fault, field)]
    return "->".join(ends) or ZOOKEEPER
