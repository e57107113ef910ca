"""What members of a group send each other in JoinGroup and SyncGroup (ConsumerProtocol)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from logquake.client.errors import MalformedResponseError
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_protocol import (
    AssignedTopicPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    OwnedTopicPartitions,
)
from logquake.wire.sentinels import NO_GENERATION
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import decode_versioned, encode_versioned

CONSUMERS = "consumer"  # the protocol type of those whose assignments are partitions
_VERSION = 3  # who knows less reads the fields that it knows


@dataclass(frozen=True, slots=True)
class Subscription:
    """A member's wish, as the leader sees it."""

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()  # what it did not give up before it joined
    generation: int = NO_GENERATION  # in which it got them (KIP-792)
    rack: str | None = None  # client.rack (KIP-881)
    instance_id: str | None = None  # group.instance.id; of JoinGroup, not in the bytes
    user_data: bytes | None = None  # the assignor's own

    def with_user_data(self, user_data: bytes | None) -> Subscription:
        return replace(self, user_data=user_data)


def encode_subscription(said: Subscription) -> bytes:
    message = ConsumerProtocolSubscription(
        topics=sorted(said.topics),
        user_data=said.user_data,
        owned_partitions=[
            OwnedTopicPartitions(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(sorted(said.owned)).items()
        ],
        generation_id=said.generation,
        rack_id=said.rack,
    )
    return encode_versioned(message, _VERSION)


def decode_subscription(data: bytes, instance_id: str | None = None) -> Subscription:
    """Of any version, later ones too. Raises MalformedResponseError."""
    try:
        found = decode_versioned(ConsumerProtocolSubscription, data, newer_is_newest=True)
    except ProtocolError as error:
        raise MalformedResponseError(f"a subscription that is none: {error}") from error
    return Subscription(
        topics=tuple(found.topics),
        owned=places((each.topic, each.partitions) for each in found.owned_partitions),
        generation=max(found.generation_id, NO_GENERATION),
        rack=found.rack_id or None,
        instance_id=instance_id,
        user_data=found.user_data,
    )


def encode_assignment(given: Iterable[TopicPartition]) -> bytes:
    assigned = [
        AssignedTopicPartitions(topic=topic, partitions=numbers)
        for topic, numbers in by_topic(given).items()
    ]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=assigned), _VERSION)


def decode_assignment(data: bytes) -> tuple[TopicPartition, ...]:
    """In order. Raises MalformedResponseError."""
    if not data:
        return ()  # a member that joined and has none yet
    try:
        found = decode_versioned(ConsumerProtocolAssignment, data, newer_is_newest=True)
    except ProtocolError as error:
        raise MalformedResponseError(f"an assignment that is none: {error}") from error
    return tuple(sorted(places((one.topic, one.partitions) for one in found.assigned_partitions)))


def by_topic(given: Iterable[TopicPartition]) -> Mapping[str, list[int]]:
    """The numbers of each topic's partitions, in the order in which they come."""
    found: dict[str, list[int]] = {}
    for topic, partition in given:
        found.setdefault(topic, []).append(partition)
    return found


def places(said: Iterable[tuple[str, Iterable[int]]]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(topic, one) for topic, numbers in said for one in numbers)
