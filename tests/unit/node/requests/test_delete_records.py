"""DeleteRecords in every version that is served, against one whole broker."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.delete_records import DeleteRecords
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from logquake.wire.messages.update_metadata import (
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataTopicState,
)
from tests.unit.node.requests.lone_broker import LoneBroker

every_version = pytest.mark.parametrize("version", DeleteRecords.versions)


def delete(broker: LoneBroker, version: int, *asked: tuple[str, int, int]) -> list[tuple[Any, ...]]:
    """(topic, partition, low watermark, error) in the order of the answer."""
    topics = [
        DeleteRecordsTopic(
            name=name, partitions=[DeleteRecordsPartition(partition_index=index, offset=offset)]
        )
        for name, index, offset in asked
    ]
    answer = broker.ask(DeleteRecordsRequest(topics=topics, timeout_ms=1_000), version)
    return [
        (topic.name, each.partition_index, each.low_watermark, each.error_code)
        for topic in answer.topics
        for each in topic.partitions
    ]


def earliest(broker: LoneBroker) -> int:
    asked = ListOffsetsPartition(partition_index=0, timestamp=-2)
    topic = ListOffsetsTopic(name="orders", partitions=[asked])
    (answer,) = broker.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 7).topics
    return int(answer.partitions[0].offset)


@every_version
def test_the_log_starts_there(broker: LoneBroker, batch: Any, version: int) -> None:
    broker.append(batch(b"a", b"b", b"c"))
    assert delete(broker, version, ("orders", 0, 2)) == [("orders", 0, 2, 0)]
    assert earliest(broker) == 2


@every_version
def test_each_partition_has_its_own_error(broker: LoneBroker, version: int) -> None:
    assert delete(
        broker,
        version,
        ("nowhere", 0, 0),
        ("orders", 0, 0),
        ("orders", 1, 5),
        ("orders", 2, 0),
        ("elsewhere", 0, 0),
    ) == [
        ("nowhere", 0, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 0, 0, ErrorCode.NONE),
        ("orders", 1, -1, ErrorCode.OFFSET_OUT_OF_RANGE),
        ("orders", 2, -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("elsewhere", 0, -1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ]


def test_of_a_partition_that_is_named_twice_the_last_mention_counts(
    broker: LoneBroker, batch: Any
) -> None:
    broker.append(batch(b"a", b"b", b"c"))
    assert delete(broker, 2, ("orders", 0, 3), ("orders", 0, 1)) == [("orders", 0, 1, 0)]


def test_internal_topics_are_left_alone(broker: LoneBroker) -> None:
    state = UpdateMetadataPartitionState(partition_index=0, leader=1, isr=[1], replicas=[1])
    topic = UpdateMetadataTopicState(
        topic_name="__consumer_offsets", topic_id=bytes(15) + b"\x09", partition_states=[state]
    )
    request = UpdateMetadataRequest(controller_id=1, controller_epoch=1, broker_epoch=-1)
    request.topic_states = [topic]
    broker.ask(request, 8)
    assert delete(broker, 2, ("__consumer_offsets", 0, 0)) == [
        ("__consumer_offsets", 0, -1, ErrorCode.INVALID_TOPIC_EXCEPTION)
    ]


def test_a_topic_that_is_only_compacted_refuses(broker: LoneBroker) -> None:
    broker.create_topic("states", config={"cleanup.policy": "compact"})
    assert delete(broker, 2, ("states", 0, 0)) == [("states", 0, -1, ErrorCode.POLICY_VIOLATION)]


def test_nothing_asked_is_answered_with_nothing(broker: LoneBroker) -> None:
    assert delete(broker, 2) == []
