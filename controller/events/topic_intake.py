"""Assignments of topics are taken into the context; topics without an id are given one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from logquake.controller.partitions import Assignment, TopicPartition
from logquake.controller.term import Term
from logquake.controller.topic_ids import random_topic_id
from logquake.controller.watched_reads import read_assignments
from logquake.zk.operations import SetData
from logquake.zk.znodes.json_text import MalformedZnode
from logquake.zk.znodes.topics import TopicAssignment


async def take_in_topics(term: Term, topics: Iterable[str]) -> list[TopicPartition]:
    """Answers the partitions that were not known. Raises ControllerMoved, ZkFailure."""
    new = []
    for topic, (assignment, version) in (await read_topics(term, topics)).items():
        topic_id = assignment.topic_id or await _give_id(term, topic, assignment, version)
        term.context.add_topic(topic, topic_id)
        for number in sorted(assignment.partitions):
            partition = TopicPartition(topic, number)
            if not term.context.assignment(partition).replicas:
                new.append(partition)
                term.context.assign(partition, _assignment_of(assignment, number))
    return new


async def read_topics(term: Term, topics: Iterable[str]) -> dict[str, tuple[TopicAssignment, int]]:
    """Assignments and versions by topic, in order; malformed ones are noted and left out."""

    def note(topic: str, malformed: MalformedZnode) -> None:
        term.note("topic-malformed", topic, str(malformed))

    return await read_assignments(topics, note)


def _assignment_of(assignment: TopicAssignment, number: int) -> Assignment:
    return Assignment(
        assignment.partitions[number],
        assignment.adding.get(number, ()),
        assignment.removing.get(number, ()),
    )


async def _give_id(term: Term, topic: str, assignment: TopicAssignment, version: int) -> bytes:
    """Topics from before Kafka 2.8 have none (KIP-516)."""
    topic_id = random_topic_id(term.random)
    with_id = replace(assignment, topic_id=topic_id)
    await term.zk.write_each([SetData(TopicAssignment.path(topic), with_id.encode(), version)])
    term.note("topic-id-given", topic, "it was created without one")
    return topic_id
