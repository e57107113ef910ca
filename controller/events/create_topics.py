"""CreateTopics (19): topics are checked and their znodes written; the watch does the rest.

ZkAdminManager.createTopics. /config/topics/T and /brokers/topics/T are written in one multi (Kafka
writes one after the other). The answer does not wait for leaders: the broker that asks does. Its
``configs`` are left to the broker as well, which knows the defaults.

An answer is true for each topic, also where ZooKeeper's own did not come: a client that were told
NOT_CONTROLLER of a topic that is there would ask again and be told that it exists already.

Caveat: of a request that creates several topics some may be made and others answered with
NOT_CONTROLLER. Kafka's admin client then sends the whole request again.

Absent: create.topic.policy.class.name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from logquake.controller.journal_events import TOPIC_CREATED
from logquake.controller.rules.assignment import (
    AssignmentError,
    Start,
    assign_replicas,
    check_counts,
)
from logquake.controller.rules.config_def import InvalidConfig
from logquake.controller.rules.mutations import MayMutate, any_mutations, check_mutations
from logquake.controller.rules.topic_config import check_new_topic
from logquake.controller.rules.topic_rules import (
    CLUSTER_METADATA_TOPIC,
    TopicRefused,
    check_assignment,
    check_collisions,
    check_name,
    check_partition_count,
    has_collision_chars,
)
from logquake.controller.term import Term
from logquake.controller.zookeeper.guarded_zk import UnitOutcome
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR
from logquake.wire.uuids import random_uuid
from logquake.zk.operations import Create, Exists, Failed, GetChildren, GetData, SetData, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all, perform, perform_all
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.configs import EntityConfig, topic_entity
from logquake.zk.znodes.topics import TOPICS_PATH, TopicAssignment

TOPICS_AT_ONCE = 100
"""What is written before an election gets its turn."""

Refusals = dict[int, TopicRefused]
"""By the topic's place in the request."""


@dataclass(frozen=True, slots=True)
class NewTopic:
    name: str
    partitions: dict[int, tuple[int, ...]]
    config: dict[str, str]
    topic_id: bytes


class TopicCreation:
    """One request. Each topic by itself: one that is refused does not hinder the others."""

    def __init__(
        self,
        request: CreateTopicsRequest,
        reply: Callable[[CreateTopicsResponse], None],
        may_mutate: MayMutate = any_mutations,
    ) -> None:
        self._request = request
        self._reply = reply
        self._may_mutate = may_mutate
        self._named = Counter(topic.name for topic in request.topics)
        self._results: dict[int, CreatableTopicResult] = {}  # by place in the request
        self._in_doubt: dict[int, NewTopic] = {}

    @property
    def is_in_doubt(self) -> bool:
        """Topics were written and ZooKeeper's answer did not come: they may be there."""
        return bool(self._in_doubt)

    async def carry_out(self, term: Term) -> None:
        """Raises ControllerMoved, ZkFailure; refuse_rest() must follow then."""
        async for places in term.pieces(range(len(self._request.topics)), TOPICS_AT_ONCE):
            await self._create(term, places)
        self._answer()

    async def settle(self) -> None:
        """See which of the topics in doubt are there. Raises ZkFailure."""
        there = await _are_there(self._in_doubt)
        self._results |= {place: _created(new, validate_only=False) for place, new in there.items()}
        self._in_doubt = {}

    def refuse_rest(self, code: ErrorCode) -> None:
        """Answer, with this code for all that was not come to."""
        for place, topic in enumerate(self._request.topics):
            refused = CreatableTopicResult(name=topic.name, error_code=code)
            self._results.setdefault(place, refused)
        self._answer()

    def _answer(self) -> None:
        results = [self._results[place] for place in range(len(self._request.topics))]
        self._reply(CreateTopicsResponse(topics=results))

    async def _create(self, term: Term, places: Iterable[int]) -> None:
        planned = self._planned(term, places)
        refused = await _already_there(planned)
        if not self._request.validate_only:
            refused |= self._beyond_quota(planned, refused)
            wanted = {place: new for place, new in planned.items() if place not in refused}
            self._in_doubt = wanted
            refused |= await _write(term, wanted)
            self._in_doubt = {}
        for place, new in planned.items():
            self._results[place] = (
                _refused(new.name, refused[place])
                if place in refused
                else _created(new, self._request.validate_only)
            )

    def _beyond_quota(self, planned: Mapping[int, NewTopic], refused: Refusals) -> Refusals:
        beyond = {}
        for place, new in planned.items():
            if place not in refused:
                try:
                    check_mutations(self._may_mutate, len(new.partitions))
                except TopicRefused as refusal:
                    beyond[place] = refusal
        return beyond

    def _planned(self, term: Term, places: Iterable[int]) -> dict[int, NewTopic]:
        """Without those that are refused at once."""
        planned = {}
        for place in places:
            topic = self._request.topics[place]
            try:
                _check_request(topic, self._named[topic.name])
                planned[place] = _plan(term, topic)
            except TopicRefused as refused:
                self._results[place] = _refused(topic.name, refused)
        return planned


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
    check_partition_count(len(partitions), term.settings.max_partitions_per_topic)
    config = _checked_config(topic)
    return NewTopic(topic.name, partitions, config, random_uuid(term.random))


def _exists(topic: str) -> TopicRefused:
    return TopicRefused(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' already exists.")


def _checked_config(topic: CreatableTopic) -> dict[str, str]:
    try:
        check_new_topic({entry.name: entry.value for entry in topic.configs})
    except InvalidConfig as invalid:
        raise TopicRefused(ErrorCode.INVALID_CONFIG, str(invalid)) from invalid
    return {entry.name: entry.value for entry in topic.configs if entry.value is not None}


def _partitions(term: Term, topic: CreatableTopic) -> dict[int, tuple[int, ...]]:
    """As the client assigned them, unknown brokers and all (as in Kafka), else by the rule."""
    numbers = (topic.num_partitions, topic.replication_factor)
    without_numbers = numbers == (NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR)
    if topic.assignments and not without_numbers:
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
    if count == NO_NUM_PARTITIONS:
        count = term.settings.num_partitions
    if factor == NO_REPLICATION_FACTOR:
        factor = term.settings.default_replication_factor
    check_partition_count(count, term.settings.max_partitions_per_topic)
    racks = term.context.active_racks()
    try:
        check_counts(count, factor, len(racks))
        return assign_replicas(racks, count, factor, Start.random(term.random, len(racks)))
    except AssignmentError as error:
        raise TopicRefused(error.code, str(error)) from error


async def _already_there(planned: Mapping[int, NewTopic]) -> Refusals:
    """What refuses topics, a look at ZooKeeper taken. Raises ZkFailure."""
    names = [new.name for new in planned.values()]
    marked = await _existing(delete_topic_path(name) for name in names)
    there = await _existing(TopicAssignment.path(name) for name in names)
    taken: set[str] = set()
    if any(map(has_collision_chars, names)):
        taken.update((await perform(GetChildren(TOPICS_PATH))).names)
    refused = {}
    for place, new in planned.items():
        try:
            _check_absence(new.name, marked, there, taken)
        except TopicRefused as refusal:
            refused[place] = refusal
        else:
            taken.add(new.name)
    return refused


def _check_absence(topic: str, marked: Set[str], there: Set[str], taken: Iterable[str]) -> None:
    """Raises TopicRefused."""
    if delete_topic_path(topic) in marked:
        raise TopicRefused(
            ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' is marked for deletion."
        )
    if TopicAssignment.path(topic) in there:
        raise _exists(topic)
    check_collisions(topic, taken)


async def _existing(paths: Iterable[str]) -> set[str]:
    asked = list(paths)
    stats = await perform_all([Exists(path) for path in asked])
    return {path for path, stat in zip(asked, stats, strict=True) if stat is not None}


async def _write(term: Term, wanted: Mapping[int, NewTopic]) -> Refusals:
    """Answers the refusals. Raises ControllerMoved, ZkFailure."""
    made = await _write_znodes(term, wanted)
    refused = {place: one for place, one in made.items() if isinstance(one, Failed)}
    for place, failed in refused.items():
        if failed.path != TopicAssignment.path(wanted[place].name):
            raise ZkFailure(failed)
    ours = await _are_there({place: wanted[place] for place in refused})
    for place, new in wanted.items():
        if place not in refused or place in ours:
            _note_created(term, new)
    return {
        place: _exists(new.name)
        for place, new in wanted.items()
        if place in refused and place not in ours
    }


async def _write_znodes(term: Term, wanted: Mapping[int, NewTopic]) -> dict[int, UnitOutcome]:
    znodes = {place: _znodes(new) for place, new in wanted.items()}
    made = dict(zip(znodes, await term.zk.write_units(list(znodes.values())), strict=True))
    again = {
        # Left behind by an earlier topic, or the answer to our own first attempt was lost.
        place: (SetData(config.path, config.data), topic)
        for place, (config, topic) in znodes.items()
        if isinstance(failed := made[place], Failed) and failed.path == config.path
    }
    made.update(zip(again, await term.zk.write_units(list(again.values())), strict=True))
    return made


def _note_created(term: Term, new: NewTopic) -> None:
    term.note(
        TOPIC_CREATED,
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


async def _are_there(topics: Mapping[int, NewTopic]) -> dict[int, NewTopic]:
    """Those of the topics that ZooKeeper has, and not others of their names: the id tells.

    Raises ZkFailure.
    """
    wanted = {place: _znodes(new)[1] for place, new in topics.items()}
    found = await attempt_all([GetData(topic.path) for topic in wanted.values()])
    there = {}
    for (place, topic), outcome in zip(wanted.items(), found, strict=True):
        if not isinstance(outcome, Failed):
            if outcome.data == topic.data:
                there[place] = topics[place]
        elif outcome.error is not ZkError.NO_NODE:
            raise ZkFailure(outcome)
    return there


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
