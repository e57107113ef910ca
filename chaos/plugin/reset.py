"""A cluster goes back to where it was before a test.

Faults are healed and members run again first: what is deleted while a broker is dead is not gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from logquake.chaos.plugin.baseline import Baseline
from logquake.client.acls import Acls
from logquake.client.configs import Configs, ConfigTarget
from logquake.client.errors import BrokerError
from logquake.client.groups import Groups
from logquake.client.routing import Router
from logquake.client.topics import Admin
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.state import LINKS, Phase, is_zookeeper
from logquake.wire.errors import ErrorCode

# For each step that waits: what a starved machine keeps, where another cluster takes longer still.
RESET_TIMEOUT_S = 60.0


class CannotResetError(Exception):
    """What was left can't be taken back: the cluster has to be given up."""


def reset(cluster: RunningCluster, before: Baseline) -> None:
    """Raises CannotResetError, ClusterError, ClientError: then the cluster is of no more use."""
    cluster.heal()
    if cluster.state().member(LINKS) is not None:
        cluster.heal_links()  # what was begun otherwise: by the command line, or to stay
    _run_again(cluster)
    _require_replicas(cluster)
    with cluster.router(RESET_TIMEOUT_S) as router:
        now = Baseline.of(cluster, router)
        _require_the_same(before, now)
        if _undo_configs(router, before, now) | _undo_acls(router, before, now):
            _wait_until_heard(cluster, router, before)
        for group in sorted(now.groups - before.groups):
            _delete_group(router, group)
        _delete_topics(cluster, router, now.topics - before.topics)


def _require_the_same(before: Baseline, now: Baseline) -> None:
    lost = before.topics - now.topics
    if lost:
        raise CannotResetError(f"a topic of before the test is gone: {min(lost)}")
    changed = before.members ^ now.members
    if changed:
        raise CannotResetError(f"not the members of before the test: {min(changed)}")


def _require_replicas(cluster: RunningCluster) -> None:
    """On brokers that there are: without one a topic is neither whole again, nor ever deleted."""
    brokers = {member.broker_id for member in cluster.state().brokers}
    for topic, assignment in sorted(cluster.view.assignments().items()):
        if not brokers.issuperset(chain.from_iterable(assignment.partitions.values())):
            raise CannotResetError(f"{topic} has replicas on a broker that is gone")


def _run_again(cluster: RunningCluster) -> None:
    """Those that no fault brought down; ZooKeeper first, brokers need it."""
    members = sorted(cluster.state().members, key=lambda member: not is_zookeeper(member.name))
    idle = [member for member in members if member.phase is not Phase.RUNNING]
    for member in idle:
        if member.phase is Phase.PAUSED:
            cluster.resume(member.name)
        else:
            cluster.start(member.name, wait=is_zookeeper(member.name))
    if idle:
        cluster.wait_ready(RESET_TIMEOUT_S)


def _undo_configs(router: Router, before: Baseline, now: Baseline) -> bool:
    """Whether there was something to undo. What is set of new topics goes with the topics."""
    undone = False
    new_topics = {f"topics/{topic}" for topic in now.topics - before.topics}
    for entity in sorted(before.configs.keys() | now.configs.keys()):
        wanted, found = before.configs.get(entity, {}), now.configs.get(entity, {})
        if wanted != found and entity not in new_topics:
            _undo_config(router, entity, wanted, found)
            undone = True
    return undone


def _undo_config(
    router: Router, entity: str, wanted: Mapping[str, str], found: Mapping[str, str]
) -> None:
    kind, name = entity.split("/", maxsplit=1)
    if kind == "topics":
        target = ConfigTarget.topic(name)
    elif kind == "brokers":
        target = ConfigTarget(ConfigTarget.all_brokers().kind, "" if name == "<default>" else name)
    else:
        raise CannotResetError(f"what {entity} was changed to")
    changed = {key: value for key, value in wanted.items() if found.get(key) != value}
    Configs(router).alter(target, changed, found.keys() - wanted.keys())


def _undo_acls(router: Router, before: Baseline, now: Baseline) -> bool:
    """Whether there was something to undo."""
    if before.acls is None or now.acls is None:
        return False
    if now.acls - before.acls:
        Acls(router).delete(now.acls - before.acls)
    if before.acls - now.acls:
        Acls(router).create(before.acls - now.acls)
    return now.acls != before.acls


def _wait_until_heard(cluster: RunningCluster, router: Router, before: Baseline) -> None:
    """Brokers obey a moment after the answer; the next test is to meet none that does not yet."""
    brokers = [one.broker_id for one in cluster.state().brokers if one.broker_id is not None]
    cluster.eventually(
        lambda: all(_has_heard(router, broker_id, before) for broker_id in brokers),
        "brokers that have heard of what was undone",
        RESET_TIMEOUT_S,
    )


def _has_heard(router: Router, broker_id: int, before: Baseline) -> bool:
    set_before = {
        *before.configs.get(f"brokers/{broker_id}", ()),
        *before.configs.get("brokers/<default>", ()),
    }
    told = Configs(router).describe(ConfigTarget.broker(broker_id))
    set_now = {entry.name for entry in told if entry.was_set_at_run_time}
    return set_now == set_before and Acls(router).list_all(broker_id) == before.acls


def _delete_group(router: Router, group: str) -> None:
    groups = Groups(router)
    try:
        try:
            groups.delete(group)
        except BrokerError as error:
            if error.code is not ErrorCode.NON_EMPTY_GROUP:
                raise
            groups.remove_members(group)
            groups.delete(group)
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:  # its last member left, and it with it
            raise


def _delete_topics(cluster: RunningCluster, router: Router, topics: frozenset[str]) -> None:
    """Internal ones stay: to make them again would cost the next test a second."""
    gone = sorted(topic for topic in topics if not topic.startswith("__"))
    if gone:
        Admin(router).delete_topics(gone)
        cluster.wait_no_topics(gone, RESET_TIMEOUT_S)
