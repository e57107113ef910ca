"""Topics: created, grown, deleted. described_topics.py lists and describes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from logquake.client.admin.asking.asks import CONTROLLER, Ask, Asks, Terms
from logquake.client.admin.asking.quotas_of_changes import change_refusal, put_off
from logquake.client.admin.asking.refusals import by_controller, refusal
from logquake.client.admin.asking.results import Results
from logquake.client.admin.configs import Config, ConfigEntry, ConfigSource
from logquake.client.errors import ClientError, UnsupportedVersionError
from logquake.wire.acls import of_code
from logquake.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR
from logquake.wire.uuids import encode_uuid

K = TypeVar("K")

_DEFAULTS_SINCE = 4  # KIP-464
_VALIDATES_SINCE = 1
_BY_STATE_SINCE = 6
_UNKNOWN = -1  # CreateTopicsResult.UNKNOWN


@dataclass(frozen=True, slots=True)
class NewTopic:
    """Give counts, or each partition's replicas; by default the broker's defaults apply."""

    name: str
    num_partitions: int = NO_NUM_PARTITIONS
    replication_factor: int = NO_REPLICATION_FACTOR
    replicas_assignments: Mapping[int, Sequence[int]] = field(default_factory=dict)
    configs: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    """The created topic. ``untold`` says why the rest is None: the broker is old, or the caller may
    create but not describe the topic (CreateTopicsResult.TopicMetadataAndConfig).
    """

    topic_id: bytes
    num_partitions: int | None = None
    replication_factor: int | None = None
    config: Config | None = None
    untold: ClientError | None = None


def create_topics(
    topics: Mapping[str, NewTopic],
    results: Results[str, CreatedTopic],
    *,
    validate_only: bool,
    retry_on_quota_violation: bool,
) -> Asks:
    def ask(left: Mapping[str, NewTopic]) -> Ask[CreateTopicsResponse]:
        return Ask(
            CONTROLLER,
            CreateTopicsResponse,
            lambda terms: _creation(list(left.values()), terms, validate_only=validate_only),
            by_controller,
        )

    return put_off(
        topics, results, ask, _created, retry_on_quota_violation=retry_on_quota_violation
    )


def _creation(topics: Sequence[NewTopic], terms: Terms, *, validate_only: bool) -> Message:
    if validate_only and terms.version < _VALIDATES_SINCE:
        raise UnsupportedVersionError("the broker makes topics, and does not only look whether")
    if terms.version < _DEFAULTS_SINCE and any(map(_wants_defaults, topics)):
        raise UnsupportedVersionError(
            "the broker has no defaults: say how many partitions and replicas (KIP-464)"
        )
    return CreateTopicsRequest(
        topics=[_creatable(topic) for topic in topics],
        timeout_ms=terms.timeout_ms,
        validate_only=validate_only,
    )


def _wants_defaults(topic: NewTopic) -> bool:
    is_counted = topic.num_partitions != NO_NUM_PARTITIONS and (
        topic.replication_factor != NO_REPLICATION_FACTOR
    )
    return not topic.replicas_assignments and not is_counted


def _creatable(topic: NewTopic) -> CreatableTopic:
    return CreatableTopic(
        name=topic.name,
        num_partitions=topic.num_partitions,
        replication_factor=topic.replication_factor,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
            for index, replicas in sorted(topic.replicas_assignments.items())
        ],
        configs=[
            CreatableTopicConfig(name=name, value=value) for name, value in topic.configs.items()
        ],
    )


def _created(answer: CreateTopicsResponse) -> Iterator[tuple[str, CreatedTopic | ClientError]]:
    for told in answer.topics:
        what, pause_ms = f"topic {told.name}", answer.throttle_time_ms
        error = change_refusal(told.error_code, what, told.error_message, pause_ms)
        yield told.name, error or _created_topic(told)


def _created_topic(told: CreatableTopicResult) -> CreatedTopic:
    untold = refusal(told.topic_config_error_code, f"what topic {told.name} is like")
    if untold is None and told.num_partitions == _UNKNOWN:
        untold = UnsupportedVersionError("the broker does not tell what it made (KIP-525)")
    if untold is not None:
        return CreatedTopic(told.topic_id, untold=untold)
    config = {each.name: _entry(each) for each in told.configs or []}
    return CreatedTopic(told.topic_id, told.num_partitions, told.replication_factor, config)


def _entry(told: CreatableTopicConfigs) -> ConfigEntry:
    source = of_code(ConfigSource, told.config_source)
    return ConfigEntry(told.name, told.value, source, told.is_sensitive, told.read_only)


# Deleting them


def delete_topics(
    names: Sequence[str], results: Results[str, None], *, retry_on_quota_violation: bool
) -> Asks:
    def ask(left: Mapping[str, None]) -> Ask[DeleteTopicsResponse]:
        return _deletion(lambda terms: _by_names(list(left), terms))

    return put_off(
        dict.fromkeys(names),
        results,
        ask,
        lambda answer: _deleted(answer, lambda told: told.name or ""),
        retry_on_quota_violation=retry_on_quota_violation,
    )


def delete_topics_by_id(
    topic_ids: Sequence[bytes], results: Results[bytes, None], *, retry_on_quota_violation: bool
) -> Asks:
    def ask(left: Mapping[bytes, None]) -> Ask[DeleteTopicsResponse]:
        return _deletion(lambda terms: _by_ids(list(left), terms))

    return put_off(
        dict.fromkeys(topic_ids),
        results,
        ask,
        lambda answer: _deleted(answer, lambda told: told.topic_id),
        retry_on_quota_violation=retry_on_quota_violation,
    )


def _deletion(request: Callable[[Terms], Message]) -> Ask[DeleteTopicsResponse]:
    return Ask(CONTROLLER, DeleteTopicsResponse, request, by_controller)


def _by_names(names: list[str], terms: Terms) -> Message:
    if terms.version < _BY_STATE_SINCE:
        return DeleteTopicsRequest(topic_names=names, timeout_ms=terms.timeout_ms)
    states = [DeleteTopicState(name=name) for name in names]
    return DeleteTopicsRequest(topics=states, timeout_ms=terms.timeout_ms)


def _by_ids(topic_ids: list[bytes], terms: Terms) -> Message:
    if terms.version < _BY_STATE_SINCE:
        raise UnsupportedVersionError("the broker deletes topics by name alone (KIP-516)")
    states = [DeleteTopicState(topic_id=topic_id) for topic_id in topic_ids]
    return DeleteTopicsRequest(topics=states, timeout_ms=terms.timeout_ms)


def _deleted(
    answer: DeleteTopicsResponse, key: Callable[[DeletableTopicResult], K]
) -> Iterator[tuple[K, ClientError | None]]:
    for told in answer.responses:
        what = f"topic {told.name or encode_uuid(told.topic_id)}"
        pause_ms = answer.throttle_time_ms
        yield key(told), change_refusal(told.error_code, what, told.error_message, pause_ms)


# Growing them


@dataclass(frozen=True, slots=True)
class NewPartitions:
    """``total_count`` includes existing ones; optionally the replicas of each new one."""

    total_count: int
    assignments: Sequence[Sequence[int]] | None = None


def create_partitions(
    partitions: Mapping[str, NewPartitions],
    results: Results[str, None],
    *,
    validate_only: bool,
    retry_on_quota_violation: bool,
) -> Asks:
    def ask(left: Mapping[str, NewPartitions]) -> Ask[CreatePartitionsResponse]:
        topics = [_growth(name, new) for name, new in left.items()]
        return Ask(
            CONTROLLER,
            CreatePartitionsResponse,
            lambda terms: CreatePartitionsRequest(
                topics=topics, timeout_ms=terms.timeout_ms, validate_only=validate_only
            ),
            by_controller,
        )

    return put_off(
        partitions, results, ask, _grown, retry_on_quota_violation=retry_on_quota_violation
    )


def _growth(name: str, new: NewPartitions) -> CreatePartitionsTopic:
    assignments = None
    if new.assignments is not None:
        assignments = [
            CreatePartitionsAssignment(broker_ids=list(replicas)) for replicas in new.assignments
        ]
    return CreatePartitionsTopic(name=name, count=new.total_count, assignments=assignments)


def _grown(answer: CreatePartitionsResponse) -> Iterator[tuple[str, ClientError | None]]:
    for told in answer.results:
        what, pause_ms = f"topic {told.name}", answer.throttle_time_ms
        yield told.name, change_refusal(told.error_code, what, told.error_message, pause_ms)
