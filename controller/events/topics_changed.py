"""Children of /brokers/topics or /admin/delete_topics changed, or a topic's assignment did.

New partitions get their first leader and ISR. A topic whose znode vanished without a deletion is
forgotten. One that is marked is deleted (KafkaController.processTopicChange,
processPartitionModifications, processTopicDeletion).
"""

from __future__ import annotations

from collections.abc import Collection

from logquake.controller.events.topic_intake import take_in_topics
from logquake.controller.journal_events import PARTITIONS_REFUSED, TOPIC_FORGOTTEN
from logquake.controller.rules.partitions import PartitionStatus, ReplicaStatus
from logquake.controller.state_machines import (
    partition_state_machine,
    replica_state_machine,
    topic_deletion_manager,
)
from logquake.controller.state_machines.partition_state_machine import ElectionStrategy
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_assignments, read_topic_names
from logquake.wire.topic_partition import TopicPartition
from logquake.zk.operations import SetData
from logquake.zk.znodes.topics import TopicAssignment

TOPICS_AT_ONCE = 100
"""What is created before an election gets its turn."""


async def topics_changed(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    names = await read_topic_names()
    known = term.context.topics
    new, gone = names - known, known - names
    for topic in sorted(gone):
        term.context.remove_topic(topic)
        term.note(TOPIC_FORGOTTEN, topic, "its znode is gone without a deletion")
    async for some in term.pieces(sorted(new), TOPICS_AT_ONCE):
        await _on_new_partition_creation(term, await take_in_topics(term, some))


async def partitions_changed(term: Term, topic: str) -> None:
    """Raises ControllerMoved, ZkFailure."""
    was_set_aside = TopicAssignment.path(topic) in term.set_aside
    read = (await read_assignments([topic], term.set_aside)).get(topic)
    if read is None or not (was_set_aside or term.context.has_topic(topic)):
        return
    assignment, version = read
    known = {partition.partition for partition in term.context.partitions_of(topic)}
    if topic in term.context.topics_to_delete:
        if assignment.partitions.keys() - known:
            await _undo_growth(term, topic, assignment, version, known)
        return
    await _on_new_partition_creation(term, await take_in_topics(term, [topic]))


async def deletions_asked(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    wanted = await topic_deletion_manager.read_marks(term)
    if wanted:
        await topic_deletion_manager.enqueue_topics_for_deletion(term, sorted(wanted))


async def _on_new_partition_creation(term: Term, partitions: Collection[TopicPartition]) -> None:
    """KafkaController.onNewPartitionCreation."""
    if not partitions:
        return
    replicas = term.context.replicas(partitions)
    partition_state_machine.mark(term, partitions, PartitionStatus.NEW)
    replica_state_machine.mark(term, replicas, ReplicaStatus.NEW)
    await partition_state_machine.bring_online(term, partitions, ElectionStrategy.OFFLINE)
    await replica_state_machine.bring_online(term, replicas)


async def _undo_growth(
    term: Term, topic: str, assignment: TopicAssignment, version: int, known: Collection[int]
) -> None:
    """A topic that is being deleted gets no partitions: nobody would ever delete them."""
    kept = {number: ids for number, ids in assignment.partitions.items() if number in known}
    restored = TopicAssignment(assignment.topic_id, kept)
    await term.zk.write_each([SetData(TopicAssignment.path(topic), restored.encode(), version)])
    term.note(PARTITIONS_REFUSED, topic, "the topic is being deleted")
