from __future__ import annotations

from typing import Any, cast

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.targets import resolve
from logquake.cluster.observing.view import ClusterView
from logquake.cluster.state import ClusterState, MemberState, Phase
from logquake.wire.sentinels import NO_LEADER
from logquake.zk.znodes.topics import PartitionState, TopicAssignment

BROKERS = tuple(
    MemberState(f"broker-{n}", "127.0.0.1", 9091 + n, Phase.RUNNING, n, 0, None) for n in (1, 2, 3)
)
STATE = ClusterState("default", 1, "fast_failover", "127.0.0.1:2181", BROKERS)


class Known:
    """A view of one topic: orders-0 is led by 3, orders-1 by nobody."""

    def controller(self) -> int | None:
        return 2

    def partition(self, topic: str, partition: int) -> PartitionState | None:
        leaders = {("orders", 0): 3, ("orders", 1): NO_LEADER}
        leader = leaders.get((topic, partition))
        return None if leader is None else PartitionState(leader, 4, (3, 1), 1)

    def assignments(self) -> dict[str, TopicAssignment]:
        return {"orders": TopicAssignment(bytes(16), {0: (3, 1), 1: (1,)})}


def name_of(target: str) -> str:
    return resolve(target, STATE, lambda: cast(ClusterView, Known()))


def unreachable() -> Any:
    raise ClusterError("ZooKeeper does not answer")


@pytest.mark.parametrize(
    ("target", "member"),
    [
        ("controller", "broker-2"),
        ("leader:orders/0", "broker-3"),
        ("follower:orders/0", "broker-1"),
    ],
)
def test_a_role_is_looked_up(target: str, member: str) -> None:
    assert name_of(target) == member


@pytest.mark.parametrize(
    ("target", "member"),
    [("2", "broker-2"), ("broker-2", "broker-2"), ("zookeeper", "zookeeper")],
)
def test_a_name_needs_no_zookeeper(target: str, member: str) -> None:
    assert resolve(target, STATE, unreachable) == member


def test_random_is_one_of_the_brokers() -> None:
    assert resolve("random", STATE, unreachable) in {broker.name for broker in BROKERS}
    assert resolve("random", STATE, unreachable, choose=lambda names: names[1]) == "broker-2"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("boss", "names no broker"),
        ("leader:orders", "names no broker"),
        ("leader:orders/9", "no partition orders-9"),
        ("leader:orders/1", "orders-1 has no leader"),
        ("follower:orders/9", "no partition orders-9"),
    ],
)
def test_what_names_nothing_is_refused(target: str, said: str) -> None:
    with pytest.raises(ClusterError, match=said):
        name_of(target)
