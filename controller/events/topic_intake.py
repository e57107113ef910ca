"""Assignments of topics are taken into the context; topics without an id are given one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from logquake.controller.journal_events import TOPIC_ID_GIVEN
from logquake.controller.rules.partitions import Assignment
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_assignments
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import random_uuid
from logquake.zk.operations import Failed, SetData
from logquake.zk.znodes.topics import TopicAssignment


async def take_in_topics(term: Term, topics: Iterable[str]) -> list[TopicPartition]:
    """Answers the partitions that were not known. Raises ControllerMoved, ZkFailure."""
    new = []
    for topic, assignment, topic_id in await _with_ids(term, topics):
        term.context.add_topic(topic, topic_id)
        for number in sorted(assignment.partitions):
            partition = TopicPartition(topic, number)
            if not term.context.assignment(partition).replicas:
                new.append(partition)
                term.context.assign(partition, _assignment_of(assignment, number))
    return new


def _assignment_of(assignment: TopicAssignment, number: int) -> Assignment:
    return Assignment(
        assignment.partitions[number],
        assignment.adding.get(number, ()),
        assignment.removing.get(number, ()),
    )


async def _with_ids(term: Term, topics: Iterable[str]) -> list[tuple[str, TopicAssignment, bytes]]:
    """What ZooKeeper has of these topics, with their ids: those without one are given one first.

    An id counts once it is in ZooKeeper. Where another wrote meanwhile, it is read what.
    """
    found = []
    remaining = list(topics)
    while remaining:
        nameless = {}
        for topic, (assignment, version) in (
            await read_assignments(remaining, term.set_aside)
        ).items():
            if assignment.topic_id is None:
                nameless[topic] = (assignment, version)
            else:
                found.append((topic, assignment, assignment.topic_id))
        await _give_ids(term, nameless)
        remaining = sorted(nameless)
    return sorted(found)


async def _give_ids(term: Term, topics: Mapping[str, tuple[TopicAssignment, int]]) -> None:
    """Topics from before Kafka 2.8 have none (KIP-516). Raises ControllerMoved, ZkFailure."""
    writes = [
        SetData(
            TopicAssignment.path(topic),
            replace(assignment, topic_id=random_uuid(term.random)).encode(),
            version,
        )
        for topic, (assignment, version) in topics.items()
    ]
    for topic, outcome in zip(topics, await term.zk.write_each(writes), strict=True):
        if not isinstance(outcome, Failed):
            term.note(TOPIC_ID_GIVEN, topic, "it was created without one")
