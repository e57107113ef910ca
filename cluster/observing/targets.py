"""Whom a command means: ``2``, ``controller``, ``leader:orders/0``, ``zookeeper-leader``.

A role is looked up at the moment of the command; by the time a signal arrives
another may have been elected, as for anyone who looks first and acts then.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from logquake.cluster.errors import ClusterError
from logquake.cluster.state import ZOOKEEPER, ClusterState, MemberState, Phase, broker_name
from logquake.wire.sentinels import NO_LEADER

if TYPE_CHECKING:
    from logquake.cluster.observing.view import ClusterView

FORMS = (
    "a broker id, controller, leader:TOPIC/PARTITION, follower:TOPIC/PARTITION, random, zookeeper, "
    "of several servers zookeeper-1, zookeeper-leader, zookeeper-follower"
)
# A lone server does what a leader does.
ZOOKEEPER_ROLES = {
    f"{ZOOKEEPER}-leader": ("leader", "standalone"),
    f"{ZOOKEEPER}-follower": ("follower",),
}
_OF_PARTITION = re.compile(r"(leader|follower):(.+)/(\d+)")


def resolve(
    text: str,
    state: ClusterState,
    view: Callable[[], ClusterView],
    mode_of: Callable[[MemberState], str],
    choose: Callable[[Sequence[str]], str] = random.choice,
) -> str:
    """The name of the member that is meant; ZooKeeper is asked only if need be.

    ``mode_of`` a server is as itself says, "" while it serves nobody. ``choose`` is how a random
    one is drawn. Raises ClusterError.
    """
    if text == ZOOKEEPER or state.member(text) is not None:
        return text
    if text == "random":
        return choose([broker.name for broker in state.brokers])
    if text in ZOOKEEPER_ROLES:
        return _zookeeper_in(text, state, mode_of)
    return broker_name(_broker_id(text, view))


def _zookeeper_in(role: str, state: ClusterState, mode_of: Callable[[MemberState], str]) -> str:
    for server in state.zookeepers:
        if server.phase is Phase.RUNNING and mode_of(server) in ZOOKEEPER_ROLES[role]:
            return server.name
    raise ClusterError(f"there is no {role} at the moment")


def _broker_id(text: str, view: Callable[[], ClusterView]) -> int:
    if text.isdecimal():
        return int(text)
    if text == "controller":
        controller = view().controller()
        if controller is None:
            raise ClusterError("there is no controller at the moment: try again, or name a broker")
        return controller
    of_partition = _OF_PARTITION.fullmatch(text)
    if of_partition is None:
        raise ClusterError(f"{text!r} names no broker: write {FORMS}")
    role, topic, partition = of_partition.groups()
    return _replica(role, topic, int(partition), view)


def _replica(role: str, topic: str, partition: int, view: Callable[[], ClusterView]) -> int:
    state = view().partition(topic, partition)
    if state is None:
        raise ClusterError(f"there is no partition {topic}-{partition}: see logquake topic list")
    if role == "leader":
        if state.leader == NO_LEADER:
            raise ClusterError(f"{topic}-{partition} has no leader at the moment")
        return state.leader
    assignment = view().assignments().get(topic)
    replicas = assignment.partitions.get(partition, ()) if assignment is not None else ()
    followers = [replica for replica in replicas if replica != state.leader]
    if not followers:
        raise ClusterError(f"{topic}-{partition} has no follower")
    return followers[0]
