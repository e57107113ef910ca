"""The deletion of topics, from the mark in /admin/delete_topics until their znodes are gone.

As Kafka's TopicDeletionManager goes about it: brokers hear that the topic has no leader any more,
every replica is stopped, then deleted, and when every broker has said that it is, the znodes go.
A replica that cannot be deleted halts its topic; when its broker is back, deletion goes on. The
mark stays in ZooKeeper until the end, so that the next controller takes over where this one was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from logquake.controller.journal_events import (
    TOPIC_DELETED,
    TOPIC_DELETION_ASKED,
    TOPIC_DELETION_HALTED,
    TOPIC_DELETION_RESUMED,
    TOPIC_DELETION_STARTED,
)
from logquake.controller.rules.partitions import PartitionStatus, Replica, ReplicaStatus
from logquake.controller.state_machines import partition_state_machine, replica_state_machine
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_topics_to_delete
from logquake.controller.zookeeper.znode_removal import remove_topics_znodes
from logquake.zk.znodes.admin import delete_topic_path

TOPICS_AT_ONCE = 100
"""What is done before an election gets its turn: some tenths of a second of work."""


async def read_marks(term: Term) -> set[str]:
    """Topics that are marked; the next change of the marks will be reported.

    Marks of unknown topics are removed, and all of them if deletion is switched off.
    Raises ControllerMoved, ZkFailure, as everything here.
    """
    marked = await read_topics_to_delete()
    wanted: set[str] = set()
    if term.settings.delete_topic_enable:
        wanted = {topic for topic in marked if term.context.has_topic(topic)}
    await term.zk.delete_each([delete_topic_path(topic) for topic in sorted(marked - wanted)])
    return wanted


async def enqueue_topics_for_deletion(term: Term, topics: Collection[str]) -> None:
    for topic in topics:
        if topic not in term.context.topics_to_delete:
            term.note(TOPIC_DELETION_ASKED, topic, "it is marked in /admin/delete_topics")
    term.context.topics_to_delete.update(topics)
    await resume_deletions(term, topics)


async def resume_deletion_for_topics(term: Term, topics: Iterable[str], why: str) -> None:
    """Whatever halted these topics is over."""
    resumed = term.context.topics_to_delete & set(topics)
    for topic in sorted(resumed & term.context.deletions_halted):
        term.note(TOPIC_DELETION_RESUMED, topic, why)
    term.context.deletions_halted -= resumed
    await resume_deletions(term, resumed)


def complete_replica_deletion(term: Term, replicas: Iterable[Replica]) -> None:
    """What this lets go on is resume_deletions()'s to find."""
    replica_state_machine.mark(term, _queued(term, replicas), ReplicaStatus.DELETION_SUCCESSFUL)


def fail_replica_deletion(term: Term, replicas: Iterable[Replica], why: str) -> None:
    failed = _queued(term, replicas)
    if failed:
        replica_state_machine.mark(term, failed, ReplicaStatus.DELETION_INELIGIBLE)
        _halt(term, _topics(failed), why)


async def resume_deletions(term: Term, topics: Iterable[str]) -> None:
    """Finish, retry or start those of these topics that can be.

    Called for the topics whose replicas or brokers something has happened to: for the others
    nothing has changed. (Kafka goes over all that are queued, each time.)
    """
    concerned = sorted(term.context.topics_to_delete.intersection(topics))
    async for some in term.pieces(concerned, TOPICS_AT_ONCE):
        await _resume_some(term, some)


async def _resume_some(term: Term, topics: Iterable[str]) -> None:
    queued = [topic for topic in topics if topic in term.context.topics_to_delete]
    deleted = [topic for topic in queued if _all_deleted(term, topic)]
    if deleted:
        await _finish(term, deleted)
    resting = [each for each in queued if each not in deleted and not _under_way(term, each)]
    await _make_retriable(term, resting)
    ready = [topic for topic in resting if topic not in term.context.deletions_halted]
    if ready:
        await _start(term, ready)


def _queued(term: Term, replicas: Iterable[Replica]) -> list[Replica]:
    queued = term.context.topics_to_delete
    return [replica for replica in replicas if replica.partition.topic in queued]


def _topics(replicas: Iterable[Replica]) -> set[str]:
    return {replica.partition.topic for replica in replicas}


def _halt(term: Term, topics: Collection[str], why: str) -> None:
    for topic in sorted(topics):
        term.note(TOPIC_DELETION_HALTED, topic, why)
    term.context.deletions_halted.update(topics)


def _all_deleted(term: Term, topic: str) -> bool:
    status = term.context.replica_status
    return all(
        status.get(replica) is ReplicaStatus.DELETION_SUCCESSFUL
        for replica in term.context.replicas_of_topic(topic)
    )


def _under_way(term: Term, topic: str) -> bool:
    return bool(term.context.replicas_in(topic, ReplicaStatus.DELETION_STARTED))


async def _make_retriable(term: Term, topics: Iterable[str]) -> None:
    """Back to offline, from where a deletion may start again."""
    failed = [
        replica
        for topic in topics
        for replica in term.context.replicas_in(topic, ReplicaStatus.DELETION_INELIGIBLE)
    ]
    if failed:
        await replica_state_machine.take_offline(term, failed, "its deletion is to be tried again")


async def _start(term: Term, topics: list[str]) -> None:
    fresh = [topic for topic in topics if topic not in term.context.deletions_started]
    unseen = [each for topic in fresh for each in term.context.partitions_of(topic)]
    partition_state_machine.mark(term, unseen, PartitionStatus.OFFLINE)
    partition_state_machine.mark(term, unseen, PartitionStatus.NON_EXISTENT)
    term.context.deletions_started.update(fresh)
    for topic in topics:
        term.note(TOPIC_DELETION_STARTED, topic, "nothing stands in its way")
    await term.inform_all(each for topic in topics for each in term.context.partitions_of(topic))
    await _delete_replicas(term, topics)


async def _delete_replicas(term: Term, topics: Iterable[str]) -> None:
    context = term.context
    replicas = [each for topic in topics for each in context.replicas_of_topic(topic)]
    dead = [each for each in replicas if not context.is_online(each)]
    alive = [
        each
        for each in replicas
        if context.is_online(each)
        and context.replica_status.get(each) is not ReplicaStatus.DELETION_SUCCESSFUL
    ]
    replica_state_machine.mark(term, dead, ReplicaStatus.DELETION_INELIGIBLE)
    await replica_state_machine.take_offline(term, alive, "its topic is being deleted")
    await replica_state_machine.start_deletion(term, alive)
    if dead:
        brokers = sorted({each.broker_id for each in dead})
        _halt(term, _topics(dead), f"no answer from brokers {brokers}")


async def _finish(term: Term, topics: Sequence[str]) -> None:
    await remove_topics_znodes(term.zk, topics)
    for topic in topics:
        term.context.remove_topic(topic)
        term.note(TOPIC_DELETED, topic, "every replica is deleted; its znodes are gone")
