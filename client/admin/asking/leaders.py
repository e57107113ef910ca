"""Looks up the leaders of partitions (PartitionLeaderStrategy)."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

from logquake.client.admin.asking.asks import ANYBODY, Ask, fixed
from logquake.client.admin.asking.keyed import Found, Outcome
from logquake.client.errors import (
    ClientError,
    MalformedResponseError,
    NoLeaderError,
    UnsupportedVersionError,
    broker_error,
)
from logquake.client.network.effects import Node
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.topic_partition import TopicPartition

V = TypeVar("V")

_NO_LEADER_YET = frozenset({ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.BROKER_NOT_AVAILABLE})
_PASSES = _NO_LEADER_YET | {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.KAFKA_STORAGE_ERROR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}


class Leaders:
    """``missing`` are the errors of topics that may still appear, and are waited for."""

    def __init__(
        self,
        missing: Collection[ErrorCode] = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}),
    ) -> None:
        self._topic_passes = _NO_LEADER_YET | frozenset(missing)

    def groups(
        self, keys: Iterable[TopicPartition]
    ) -> Iterable[tuple[Hashable, list[TopicPartition]]]:
        yield "leaders", list(keys)

    def ask(self, keys: list[TopicPartition]) -> Ask[MetadataResponse]:
        names = dict.fromkeys(key.topic for key in keys)
        topics = [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
        return Ask(ANYBODY, MetadataResponse, fixed(request))

    def found(self, keys: list[TopicPartition], answer: MetadataResponse) -> Found[TopicPartition]:
        found: Found[TopicPartition] = Found()
        for topic in answer.topics:
            of_topic = [key for key in keys if key.topic == topic.name]
            code = ErrorCode.of_peer(topic.error_code)
            if code is ErrorCode.NONE:
                _look(topic, of_topic, found)
                continue
            error = broker_error(topic.error_code, f"the leaders of topic {topic.name}")
            kept = found.waits if code in self._topic_passes else found.failed
            kept.update(dict.fromkeys(of_topic, error))
        return found

    def unsupported(
        self, keys: list[TopicPartition], error: UnsupportedVersionError
    ) -> dict[TopicPartition, ClientError]:
        return dict.fromkeys(keys, error)


def _look(
    topic: MetadataResponseTopic, keys: list[TopicPartition], found: Found[TopicPartition]
) -> None:
    told = {each.partition_index: each for each in topic.partitions}
    for key in keys:
        if (partition := told.get(key.partition)) is None:
            why = f"{key.topic} has no partition {key.partition}: it has {len(told)}"
            found.waits[key] = broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, why)
        elif (code := ErrorCode.of_peer(partition.error_code)) is not ErrorCode.NONE:
            kept = found.waits if code in _PASSES else found.failed
            kept[key] = broker_error(partition.error_code, f"the leader of {key}")
        elif partition.leader_id >= 0:
            found.brokers[key] = partition.leader_id
        else:
            found.waits[key] = NoLeaderError(f"nobody leads {key}")


def outcome_of(
    keys: Collection[TopicPartition],
    told: Iterable[tuple[TopicPartition, int, V]],
    moved: Collection[ErrorCode],
    node: Node,
) -> Outcome[TopicPartition, V]:
    """From a leader's response and error code for each partition. ``moved`` are those it no longer
    leads; after other retriable errors it is asked again.
    """
    outcome: Outcome[TopicPartition, V] = Outcome()
    named = set()
    for place, code, value in told:
        named.add(place)
        known = ErrorCode.of_peer(code)
        if known is ErrorCode.NONE:
            outcome.completed[place] = value
        elif known in moved:
            outcome.moved.append(place)
        else:
            kept = outcome.waits if known.retriable else outcome.failed
            kept[place] = broker_error(code, str(place))
    if not outcome.moved:
        for place in (key for key in keys if key not in named):
            what = f"{node} says nothing of {place}, which it was asked about"
            outcome.failed[place] = MalformedResponseError(what)
    return outcome
