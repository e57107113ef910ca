"""CreateTopics (19): topics are checked and their znodes written; the watch does the rest.

ZkAdminManager.createTopics. /config/topics/T comes first and /brokers/topics/T after it: with the
latter the topic exists. The answer does not wait for leaders: the broker that asks does. Its
``configs`` are left to the broker as well, which knows the defaults.

Absent: create.topic.policy.class.name, mutation quotas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from logquake.controller.assignment import AssignmentError, Start, assign_replicas, check_counts
from logquake.controller.term import Term
from logquake.controller.topic_config import InvalidConfig, check_topic_config
from logquake.controller.topic_ids import random_topic_id
from logquake.controller.topic_rules import (
    CLUSTER_METADATA_TOPIC,
    TopicRefused,
    check_assignment,
    check_collisions,
    check_name,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.zk.operations import Create, Exists, Failed, GetChildren, GetData, SetData, ZkError
from logquake.zk.procedure import ZkFailure, perform
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.configs import EntityConfig, topic_entity
from logquake.zk.znodes.topics import TOPICS_PATH, TopicAssignment

FROM_BROKER_DEFAULT = -1  # in NumPartitions and ReplicationFactor (KIP-464)


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: dict[int, tuple[int, ...]]
    config: dict[str, str]
    topic_id: bytes


async def create_topics(
    term: Term, request: CreateTopicsRequest, reply: Callable[[CreateTopicsResponse], None]
) -> None:
    """Each topic by itself: one that is refused does not hinder the others.

    Raises ControllerMoved, ZkFailure.
    """
    named = Counter(topic.name for topic in request.topics)
    results = []
    for topic in request.topics:
        try:
            _check_request(topic, named[topic.name])
            new = _plan(term, topic)
            await _check_absence(topic.name)
            if not request.validate_only:
                await _write(term, new)
            results.append(_created(new, request.validate_only))
        except TopicRefused as refused:
            results.append(_refused(topic.name, refused))
    reply(CreateTopicsResponse(topics=results))


def _check_request(topic: CreatableTopic, times_named: int) -> None:
    """What KafkaApis refuses before anything else."""
    if topic.name == CLUSTER_METADATA_TOPIC:
        raise TopicRefused(
            ErrorCode.INVALID_REQUEST,
            f"Creation of internal topic {CLUSTER_METADATA_TOPIC} is prohibited.",
        )
    if times_named > 1:
        raise TopicRefused(ErrorCode.INVALID_REQUEST, "Found multiple entries for this topic.")


def _plan(term: Term, topic: CreatableTopic) -> NewTopic:
    """All that needs no look at ZooKeeper. Raises TopicRefused."""
    if term.context.has_topic(topic.name):
        raise _exists(topic.name)
    partitions = _partitions(term, topic)
    check_name(topic.name)
    check_assignment(partitions)
    _check_size(term, len(partitions))
    config = _checked_config(topic)
    return NewTopic(topic.name, partitions, config, random_topic_id(term.random))


def _exists(topic: str) -> TopicRefused:
    return TopicRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' already exists.")


def _checked_config(topic: CreatableTopic) -> dict[str, str]:
    try:
        check_topic_config({entry.name: entry.value for entry in topic.configs})
    except InvalidConfig as invalid:
        raise TopicRefused(ErrorCode.INVALID_CONFIG, str(invalid)) from invalid
    return {entry.name: entry.value for entry in topic.configs if entry.value is not None}


def _partitions(term: Term, topic: CreatableTopic) -> dict[int, tuple[int, ...]]:
    """As the client assigned them, unknown brokers and all (as in Kafka), else by the rule."""
    by_number = topic.num_partitions == topic.replication_factor == FROM_BROKER_DEFAULT
    if topic.assignments and not by_number:
        raise TopicRefused(
            ErrorCode.INVALID_REQUEST,
            "Both numPartitions or replicationFactor and replicasAssignments were set. "
            "Both cannot be used at the same time.",
        )
    if topic.assignments:
        return {each.partition_index: tuple(each.broker_ids) for each in topic.assignments}
    return _assigned_by_rule(term, topic)


def _assigned_by_rule(term: Term, topic: CreatableTopic) -> dict[int, tuple[int, ...]]:
    count, factor = topic.num_partitions, topic.replication_factor
    if count == FROM_BROKER_DEFAULT:
        count = term.settings.num_partitions
    if factor == FROM_BROKER_DEFAULT:
        factor = term.settings.default_replication_factor
    _check_size(term, count)
    brokers = sorted(term.context.active_broker_ids)
    racks = {each: term.context.brokers[each].registration.rack for each in brokers}
    try:
        check_counts(count, factor, len(racks))
        return assign_replicas(racks, count, factor, Start.random(term.random, len(racks)))
    except AssignmentError as error:
        raise TopicRefused(error.code, str(error)) from error


def _check_size(term: Term, partition_count: int) -> None:
    if partition_count > term.settings.max_partitions_per_topic:
        raise TopicRefused(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


async def _check_absence(topic: str) -> None:
    """Raises TopicRefused, ZkFailure."""
    if await perform(Exists(delete_topic_path(topic))) is not None:
        raise TopicRefused(
            ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' is marked for deletion."
        )
    existing = (await perform(GetChildren(TOPICS_PATH))).names
    if topic in existing:
        raise _exists(topic)
    check_collisions(topic, existing)


async def _write(term: Term, new: NewTopic) -> None:
    config = EntityConfig(new.config).encode()
    config_path = EntityConfig.path(topic_entity(new.name))
    (made,) = await term.zk.write_each([Create(config_path, config)])
    if isinstance(made, Failed) and made.error is ZkError.NODE_EXISTS:
        await term.zk.write_each([SetData(config_path, config)])
    elif isinstance(made, Failed):
        raise ZkFailure(made)
    assignment = TopicAssignment(new.topic_id, new.partitions).encode()
    path = TopicAssignment.path(new.name)
    (made,) = await term.zk.write_each([Create(path, assignment)])
    if isinstance(made, Failed) and (await perform(GetData(path))).data != assignment:
        raise _exists(new.name)  # else it is ours: the first attempt's answer was lost
    term.note(
        "topic-created",
        new.name,
        "a client asked for it",
        after={str(number): list(ids) for number, ids in new.partitions.items()},
    )


def _created(new: NewTopic, validate_only: bool) -> CreatableTopicResult:
    result = CreatableTopicResult(
        name=new.name,
        error_message=None,
        num_partitions=len(new.partitions),
        replication_factor=len(new.partitions[0]),
    )
    if not validate_only:
        result.topic_id = new.topic_id
    return result


def _refused(topic: str, refused: TopicRefused) -> CreatableTopicResult:
    return CreatableTopicResult(name=topic, error_code=refused.code, error_message=refused.message)
