"""CreateTopics (19): topics are checked and their znodes written; the watch does the rest.

ZkAdminManager.createTopics. /config/topics/T and /brokers/topics/T are written in one multi (Kafka
writes one after the other). The answer does not wait for leaders: the broker that asks does. Its
``configs`` are left to the broker as well, which knows the defaults.

An answer is true for each topic, also where ZooKeeper's own did not come: a client that were told
NOT_CONTROLLER of a topic that is there would ask again and be told that it exists already.

Caveat: of a request that creates several topics some may be made and others answered with
NOT_CONTROLLER. Kafka's admin client then sends the whole request again.

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
from logquake.zk.procedure import ZkFailure, attempt, perform
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


class TopicCreation:
    """One request. Each topic by itself: one that is refused does not hinder the others."""

    def __init__(
        self, request: CreateTopicsRequest, reply: Callable[[CreateTopicsResponse], None]
    ) -> None:
        self._request = request
        self._reply = reply
        self._results: list[CreatableTopicResult] = []
        self._in_doubt: NewTopic | None = None

    @property
    def is_in_doubt(self) -> bool:
        """A topic was written and ZooKeeper's answer did not come: it may be there."""
        return self._in_doubt is not None

    async def carry_out(self, term: Term) -> None:
        """Raises ControllerMoved, ZkFailure; refuse_rest() must follow then."""
        named = Counter(topic.name for topic in self._request.topics)
        for topic in self._request.topics:
            self._results.append(await self._create(term, topic, named[topic.name]))
            self._in_doubt = None
        self._reply(CreateTopicsResponse(topics=self._results))

    async def settle(self) -> None:
        """See whether the topic in doubt is there. Raises ZkFailure."""
        new = self._in_doubt
        if new is not None and await _is_there(new):
            self._results.append(_created(new, validate_only=False))
        self._in_doubt = None

    def refuse_rest(self, code: ErrorCode) -> None:
        """Answer, with this code for all that was not come to."""
        rest = self._request.topics[len(self._results) :]
        refused = [CreatableTopicResult(name=each.name, error_code=code) for each in rest]
        self._reply(CreateTopicsResponse(topics=[*self._results, *refused]))

    async def _create(
        self, term: Term, topic: CreatableTopic, times_named: int
    ) -> CreatableTopicResult:
        validate_only = self._request.validate_only
        try:
            _check_request(topic, times_named)
            new = _plan(term, topic)
            await _check_absence(topic.name)
            if not validate_only:
                self._in_doubt = new
                await _write(term, new)
            return _created(new, validate_only)
        except TopicRefused as refused:
            return _refused(topic.name, refused)


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
    config, topic = _znodes(new)
    made = await term.zk.write_together([config, topic])
    if isinstance(made, Failed) and made.path == config.path:
        # Left behind by an earlier topic, or the answer to our own first attempt was lost.
        made = await term.zk.write_together([SetData(config.path, config.data), topic])
    if isinstance(made, Failed):
        if made.path != topic.path:
            raise ZkFailure(made)
        if not await _is_there(new):
            raise _exists(new.name)
    term.note(
        "topic-created",
        new.name,
        "a client asked for it",
        after={str(number): list(ids) for number, ids in new.partitions.items()},
    )


def _znodes(new: NewTopic) -> tuple[Create, Create]:
    """Configuration and assignment: together, so that neither is ever there alone."""
    return (
        Create(EntityConfig.path(topic_entity(new.name)), EntityConfig(new.config).encode()),
        Create(
            TopicAssignment.path(new.name), TopicAssignment(new.topic_id, new.partitions).encode()
        ),
    )


async def _is_there(new: NewTopic) -> bool:
    """Whether it is this very topic that ZooKeeper has: its id tells. Raises ZkFailure."""
    _, topic = _znodes(new)
    found = await attempt(GetData(topic.path))
    if isinstance(found, Failed) and found.error is not ZkError.NO_NODE:
        raise ZkFailure(found)
    return not isinstance(found, Failed) and found.data == topic.data


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
