"""A cluster goes back to where it was before a test.

Faults are healed and members run again first: what is deleted while a broker is dead is not gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from itertools import chain

from logquake.chaos.plugin.baseline import Baseline
from logquake.chaos.plugin.heard import acls_told, has_configs
from logquake.client import Admin
from logquake.client.admin import (
    AclBindingFilter,
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    OpType,
)
from logquake.client.errors import BrokerError
from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.cluster.running.cluster import RunningCluster
from logquake.cluster.running.observed import CHANGE_TIMEOUT_S
from logquake.cluster.state import LINKS, Phase, is_zookeeper
from logquake.wire.acls import AclBinding
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
    with cluster.admin(RESET_TIMEOUT_S, answer=CHANGE_TIMEOUT_S) as admin:
        now = Baseline.of(cluster, admin)
        _require_the_same(before, now)
        if _undo_configs(admin, before, now) | _undo_acls(admin, before, now):
            _wait_until_heard(cluster, admin, before)
        for group in sorted(now.groups - before.groups):
            _delete_group(admin, group)
        _delete_topics(cluster, admin, now.topics - before.topics)


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


def _undo_configs(admin: Admin, before: Baseline, now: Baseline) -> bool:
    """Whether there was something to undo. What is set of new topics goes with the topics."""
    undone = False
    new_topics = {f"topics/{topic}" for topic in now.topics - before.topics}
    for entity in sorted(before.configs.keys() | now.configs.keys()):
        wanted, found = before.configs.get(entity, {}), now.configs.get(entity, {})
        if wanted != found and entity not in new_topics:
            _undo_config(admin, entity, wanted, found)
            undone = True
    return undone


def _undo_config(
    admin: Admin, entity: str, wanted: Mapping[str, str], found: Mapping[str, str]
) -> None:
    kind, name = entity.split("/", maxsplit=1)
    if kind == "topics":
        target = ConfigResource(ConfigResourceType.TOPIC, name)
    elif kind == "brokers":
        target = ConfigResource(ConfigResourceType.BROKER, "" if name == "<default>" else name)
    else:
        raise CannotResetError(f"what {entity} was changed to")
    changes = [
        AlterConfigOp(key, value)
        for key, value in sorted(wanted.items())
        if found.get(key) != value
    ]
    changes += [AlterConfigOp(key, None, OpType.DELETE) for key in sorted(found.keys() - wanted)]
    admin.incremental_alter_configs({target: changes})[target].result()


def _undo_acls(admin: Admin, before: Baseline, now: Baseline) -> bool:
    """Whether there was something to undo."""
    if before.acls is None or now.acls is None:
        return False
    for deleted in admin.delete_acls(map(_exactly, now.acls - before.acls)).values():
        deleted.result()
    for created in admin.create_acls(before.acls - now.acls).values():
        created.result()
    return now.acls != before.acls


def _exactly(rule: AclBinding) -> AclBindingFilter:
    """This one alone, not what else it would match."""
    pattern, entry = rule.pattern, rule.entry
    return AclBindingFilter(
        pattern.type,
        pattern.name,
        pattern.pattern,
        str(entry.principal),
        entry.host,
        entry.operation,
        entry.permission,
    )


def _wait_until_heard(cluster: RunningCluster, admin: Admin, before: Baseline) -> None:
    """Brokers obey a moment after the answer; the next test is to meet none that does not yet."""
    brokers = cluster.state().brokers
    dial = dial_as(ONLOOKER, int(RESET_TIMEOUT_S * 1000), cluster.way_in)
    with closing(BrokerConnections(dial)) as connections:
        cluster.eventually(
            lambda: all(
                broker.broker_id is not None
                and has_configs(admin, broker.broker_id, before.configs)
                and acls_told(connections, broker) == before.acls
                for broker in brokers
            ),
            "brokers that have heard of what was undone",
            RESET_TIMEOUT_S,
        )


def _delete_group(admin: Admin, group: str) -> None:
    try:
        try:
            admin.delete_consumer_groups([group])[group].result()
        except BrokerError as error:
            if error.code is not ErrorCode.NON_EMPTY_GROUP:
                raise
            admin.remove_all_members_from_consumer_group(group).result()
            admin.delete_consumer_groups([group])[group].result()
    except BrokerError as error:
        if error.code is not ErrorCode.GROUP_ID_NOT_FOUND:  # its last member left, and it with it
            raise


def _delete_topics(cluster: RunningCluster, admin: Admin, topics: frozenset[str]) -> None:
    """Internal ones stay: to make them again would cost the next test a second."""
    gone = sorted(topic for topic in topics if not topic.startswith("__"))
    if gone:
        for deleted in admin.delete_topics(gone).values():
            deleted.result()
        cluster.wait_no_topics(gone, RESET_TIMEOUT_S)
