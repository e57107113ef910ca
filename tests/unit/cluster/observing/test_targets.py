from __future__ import annotations

from dataclasses import replace
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


MODES = {"zookeeper-1": "follower", "zookeeper-2": "leader", "zookeeper-3": "follower"}


def ensemble(**phases: Phase) -> ClusterState:
    servers = tuple(
        MemberState(
            name, "127.0.0.1", 2181, phases.get(f"of_{name[-1]}", Phase.RUNNING), 7, 0, None
        )
        for name in MODES
    )
    return replace(STATE, members=(*servers, *BROKERS))


def name_of(target: str, state: ClusterState = STATE) -> str:
    return resolve(
        target, state, lambda: cast(ClusterView, Known()), lambda server: MODES[server.name]
    )


def unreachable(*_: object) -> Any:
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
    assert resolve(target, STATE, unreachable, unreachable) == member


def test_random_is_one_of_the_brokers() -> None:
    assert resolve("random", STATE, unreachable, unreachable) in {each.name for each in BROKERS}
    second = resolve("random", STATE, unreachable, unreachable, choose=lambda names: names[1])
    assert second == "broker-2"


def test_the_servers_of_an_ensemble_say_who_leads_them() -> None:
    assert name_of("zookeeper-leader", ensemble()) == "zookeeper-2"
    assert name_of("zookeeper-follower", ensemble()) == "zookeeper-1"
    assert name_of("zookeeper-3", ensemble()) == "zookeeper-3"


def test_a_server_that_does_not_run_is_not_asked() -> None:
    assert name_of("zookeeper-follower", ensemble(of_1=Phase.PAUSED)) == "zookeeper-3"
    with pytest.raises(ClusterError, match="no zookeeper-leader at the moment"):
        name_of("zookeeper-leader", ensemble(of_2=Phase.ENDED))


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
