"""Kafka's RangeAssignor: of each topic every member gets a run of partitions, in order of ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from logquake.client.errors import MalformedResponseError
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_protocol import (
    AssignedTopicPartitions,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.versioned import decode_versioned, encode_versioned

RANGE = "range"
_VERSION = 0  # every consumer reads it


def assign(
    wishes: Mapping[str, Collection[str]], partition_counts: Mapping[str, int]
) -> dict[str, list[TopicPartition]]:
    """By member id. `wishes` are each member's topics; of unknown topics nobody gets anything."""
    assigned: dict[str, list[TopicPartition]] = {member: [] for member in sorted(wishes)}
    for topic in sorted({topic for wish in wishes.values() for topic in wish}):
        readers = [member for member in assigned if topic in wishes[member]]
        share, left_over = divmod(partition_counts.get(topic, 0), len(readers))
        first = 0
        for index, member in enumerate(readers):
            after = first + share + (index < left_over)
            assigned[member] += [TopicPartition(topic, one) for one in range(first, after)]
            first = after
    return assigned


def encode_assignment(places: Sequence[TopicPartition]) -> bytes:
    by_topic: dict[str, list[int]] = defaultdict(list)
    for topic, partition in places:
        by_topic[topic].append(partition)
    assigned = [
        AssignedTopicPartitions(topic=topic, partitions=partitions)
        for topic, partitions in by_topic.items()
    ]
    return encode_versioned(ConsumerProtocolAssignment(assigned_partitions=assigned), _VERSION)


def decode_subscription(data: bytes) -> list[str]:
    """A member's topics. Raises MalformedResponseError."""
    try:
        found = decode_versioned(ConsumerProtocolSubscription, data, newer_is_newest=True)
    except ProtocolError as error:
        raise MalformedResponseError(f"a subscription that is none: {error}") from error
    return found.topics
