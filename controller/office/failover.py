"""The first acts of a new controller (KafkaController.onControllerFailover).

It sets every watch before it reads, so that nothing changes unseen; takes the whole state in;
tells the brokers who is there, then every replica what it is; elects leaders where there are
none; and goes on with the deletions that it found.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.controller.context.controller_context import ControllerContext
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.events.topic_intake import take_in_topics
from logquake.controller.rules.partitions import PartitionStatus, Replica, ReplicaStatus
from logquake.controller.state_machines import (
    partition_state_machine,
    replica_state_machine,
    topic_deletion_manager,
)
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import (
    read_brokers,
    read_topic_names,
)
from logquake.controller.zookeeper.znode_removal import children_of
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import Create, GetChildren
from logquake.zk.procedure import in_slices, perform
from logquake.zk.znodes.admin import ISR_CHANGE_PATH, LOG_DIR_EVENT_PATH
from logquake.zk.znodes.cluster import Features

TOPICS_AT_ONCE = 200  # read, and taken into the context, before the loop has its turn


async def take_office(term: Term, refused: LiveBroker | None = None) -> None:
    """``refused`` is the broker whose refusal made the office free.

    Raises ControllerMoved, ZkFailure.
    """
    await term.zk.write_each([Create(Features.path(), Features().encode())])
    await _drop_old_notifications(term)
    await _read_in(term, refused)
    await _take_over_deletions(term)
    await _inform_of_everything(term)
    await _start_replicas(term)
    await _start_partitions(term)
    await topic_deletion_manager.resume_deletions(term, term.context.topics_to_delete)


async def _inform_of_everything(term: Term) -> None:
    """Kafka tells only the brokers here, and the partitions a moment later.

    A broker that has just started would take that for a cluster without topics, and say so to
    clients, some of which give a topic up for it.
    """
    await term.inform_all(partition for partition, _ in term.context.led())


async def _drop_old_notifications(term: Term) -> None:
    """What they tell is read from its source now. The watch on log directories stays."""
    await perform(GetChildren(LOG_DIR_EVENT_PATH, watch=True))
    for parent in (LOG_DIR_EVENT_PATH, ISR_CHANGE_PATH):
        children = await children_of(parent)
        await term.zk.delete_each([f"{parent}/{name}" for name in children])


async def _read_in(term: Term, refused: LiveBroker | None) -> None:
    context = term.context
    context.brokers.update(await read_brokers({}, term.set_aside))
    if refused is not None:
        _leave_out(term, refused)
    async for topics in in_slices(sorted(await read_topic_names()), TOPICS_AT_ONCE):
        await take_in_topics(term, topics)
    async for partitions in in_slices(context.partitions()):
        for partition, leadership in (await term.zk.read_states(partitions)).items():
            context.take_in(partition, leadership)
    for broker in context.brokers.values():
        term.admit(broker)


def _leave_out(term: Term, refused: LiveBroker) -> None:
    """The broker that made the office free is gone from the first decision on."""
    if term.refuse(refused):
        term.reachability.watch(refused, refused=True)


async def _take_over_deletions(term: Term) -> None:
    wanted = await topic_deletion_manager.read_marks(term)
    term.context.topics_to_delete |= wanted
    halted = {topic for topic in wanted if not _all_online(term, topic)}
    term.context.deletions_halted |= halted


def _all_online(term: Term, topic: str) -> bool:
    return all(map(term.context.is_online, term.context.replicas_of_topic(topic)))


async def _start_replicas(term: Term) -> None:
    """Replicas on dead brokers could not be deleted either: hence their state."""
    context = term.context
    online: list[Replica] = []
    offline: list[Replica] = []
    async for partitions in in_slices(context.partitions()):
        for replica in context.replicas(partitions):
            (online if context.is_online(replica) else offline).append(replica)
    _set_status(term, online, ReplicaStatus.ONLINE)
    _set_status(term, offline, ReplicaStatus.DELETION_INELIGIBLE)
    await replica_state_machine.bring_online(term, online)
    await replica_state_machine.take_offline(term, offline, "its broker was gone at the failover")


def _set_status(term: Term, replicas: Iterable[Replica], status: ReplicaStatus) -> None:
    term.context.replica_status.update(dict.fromkeys(replicas, status))


async def _start_partitions(term: Term) -> None:
    context = term.context
    async for partitions in in_slices(context.partitions()):
        for partition in partitions:
            context.set_status(partition, _status_of(context, partition))
    await partition_state_machine.trigger_online_state_change(term)


def _status_of(context: ControllerContext, partition: TopicPartition) -> PartitionStatus:
    leadership = context.leaderships.get(partition)
    if leadership is None:
        return PartitionStatus.NEW
    if context.is_online(Replica(partition, leadership.state.leader)):
        return PartitionStatus.ONLINE
    return PartitionStatus.OFFLINE
