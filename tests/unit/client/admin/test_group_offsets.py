"""Offsets of groups and logs, as brokers tell them."""

from __future__ import annotations

from logquake.client.admin.asking.keyed import Answered
from logquake.client.admin.group_offsets import ListConsumerGroupOffsets
from logquake.client.admin.offsets import ListOffsets, OffsetSpec
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import MalformedResponseError
from logquake.client.isolation import Isolation
from logquake.client.network.effects import Node
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from logquake.wire.messages.group_offsets import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.admin.brokers_in_memory import BrokersInMemory
from tests.unit.client.admin.every_call import OTHER, PLACE


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


def test_what_a_broker_tells_of_groups_that_another_coordinates_is_passed_over() -> None:
    homes = {"g": 1, "h": 2}

    def says(request: Message, _: int) -> Message:
        if isinstance(request, FindCoordinatorRequest):
            return FindCoordinatorResponse(
                coordinators=[
                    Coordinator(key=key, node_id=homes[key], host="broker", port=9000 + homes[key])
                    for key in request.coordinator_keys
                ]
            )
        assert isinstance(request, OffsetFetchRequest)
        of_both = [told(group_id, ErrorCode.NONE) for group_id in homes]
        asked = [group.group_id for group in request.groups]
        for group in of_both:
            if group.group_id not in asked:  # somebody else's word
                group.topics[0].partitions[0].committed_offset = 777
        return OffsetFetchResponse(groups=of_both)

    brokers = BrokersInMemory(says)
    outcomes = brokers.outcomes(
        lambda admin: admin.list_consumer_group_offsets(dict.fromkeys(homes))
    )
    offsets = [each[TopicPartition("t", 0)].offset for each in outcomes]
    assert offsets == [5, 5]


def test_an_offset_that_cannot_be_is_an_error() -> None:
    handler = ListOffsets({PLACE: OffsetSpec.LATEST, OTHER: 5}, Isolation.READ_UNCOMMITTED)
    partitions = [ListOffsetsPartitionResponse(partition_index=0, offset=-5)]
    none = [ListOffsetsPartitionResponse(partition_index=3, offset=-1)]
    answer = ListOffsetsResponse(
        topics=[
            ListOffsetsTopicResponse(name="t", partitions=partitions),
            ListOffsetsTopicResponse(name="u", partitions=none),
        ]
    )
    outcome = handler.outcome(Answered(answer, Node(1, "one", 9092), [PLACE, OTHER]))
    assert outcome.completed.keys() == {OTHER}
    assert isinstance(outcome.failed[PLACE], MalformedResponseError)
