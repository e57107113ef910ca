"""Committed offsets of groups, as brokers tell them."""

from __future__ import annotations

from logquake.client.admin.group_offsets import ListConsumerGroupOffsets
from logquake.client.admin.keyed import Answered
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.network.effects import Node
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.topic_partition import TopicPartition


def told(group_id: str, code: ErrorCode) -> OffsetFetchResponseGroup:
    """Partition 0 at offset 5, and of partition 1 this."""
    partitions = [
        OffsetFetchResponsePartitions(partition_index=0, committed_offset=5, error_code=0),
        OffsetFetchResponsePartitions(partition_index=1, committed_offset=-1, error_code=code),
    ]
    topics = [OffsetFetchResponseTopics(name="t", partitions=partitions)]
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics, error_code=0)


def test_groups_whose_offsets_a_transaction_may_change_are_asked_about_again() -> None:
    handler = ListConsumerGroupOffsets({"g": None, "h": None}, require_stable=True)
    answer = OffsetFetchResponse(
        groups=[
            told("g", ErrorCode.UNSTABLE_OFFSET_COMMIT),
            told("h", ErrorCode.TOPIC_AUTHORIZATION_FAILED),
        ]
    )
    outcome = handler.outcome(Answered(answer, Node(1, "one", 9092), ["g", "h"]))
    assert outcome.completed == {"h": {TopicPartition("t", 0): OffsetAndMetadata(5)}}
    assert not outcome.failed
    assert not outcome.moved
