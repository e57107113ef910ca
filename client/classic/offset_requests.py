"""A group's offsets, kept by a broker: in ZooKeeper (version 0) or in Kafka (version 1).

For offsets in Kafka, the broker must be the group's coordinator.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import NamedTuple

from logquake.client.classic.channel import Channel
from logquake.client.classic.requests import by_topic, exactly
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from logquake.wire.topic_partition import TopicPartition


class KeptIn(IntEnum):
    """Where offsets are kept, by the version of the request."""

    ZOOKEEPER = 0
    KAFKA = 1


class Committed(NamedTuple):
    """UNKNOWN_OFFSET if nothing is committed (OffsetMetadataAndError)."""

    offset: int
    error_code: int
    metadata: str = ""


def commit_offsets(
    channel: Channel, group: str, offsets: Mapping[TopicPartition, int], kept_in: KeptIn
) -> dict[TopicPartition, int]:
    """Returns error codes. Raises as Channel.ask."""
    request = OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    OffsetCommitRequestPartition(
                        partition_index=partition, committed_offset=offset, committed_metadata=""
                    )
                    for partition, offset in partitions
                ],
            )
            for topic, partitions in by_topic(offsets)
        ],
    )
    answer = channel.ask(request, OffsetCommitResponse, at_most=kept_in)
    told = {
        TopicPartition(topic.name, each.partition_index): each.error_code
        for topic in answer.topics
        for each in topic.partitions
    }
    exactly(offsets, told)
    return told


def fetch_offsets(
    channel: Channel, group: str, places: Collection[TopicPartition], kept_in: KeptIn
) -> dict[TopicPartition, Committed]:
    """Raises as Channel.ask."""
    request = OffsetFetchRequest(
        group_id=group,
        topics=[
            OffsetFetchRequestTopic(name=topic, partition_indexes=[each for each, _ in partitions])
            for topic, partitions in by_topic(dict.fromkeys(places))
        ],
    )
    answer = channel.ask(request, OffsetFetchResponse, at_most=kept_in)
    told = {
        TopicPartition(topic.name, each.partition_index): Committed(
            each.committed_offset, each.error_code, each.metadata or ""
        )
        for topic in answer.topics
        for each in topic.partitions
    }
    exactly(places, told)
    return told
