"""ListOffsets and OffsetForLeaderEpoch, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.list_offsets import ListOffsets
from logquake.node.requests.offset_for_leader_epoch import OffsetForLeaderEpoch
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from tests.unit.node.requests.lone_broker import LoneBroker

START_MS = 1_700_000_000_000
LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5

every_version = pytest.mark.parametrize("version", ListOffsets.versions)


@pytest.fixture
def filled(broker: LoneBroker, batch: Any) -> Any:
    """Four records in orders-0, a second apart, two a batch."""
    for second in (0, 2):
        records = batch(b"x", b"y", timestamp_ms=START_MS + 1000 * second, step_ms=1000)
        data = PartitionProduceData(index=0, records=records)
        topic = TopicProduceData(name="orders", partition_data=[data])
        broker.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic]), 9)
    return broker


def ask(
    broker: LoneBroker, version: int, *asked: ListOffsetsPartition, name: str = "orders"
) -> Any:
    topic = ListOffsetsTopic(name=name, partitions=list(asked))
    (answer,) = broker.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), version).topics
    return answer.partitions


def at(timestamp: int, index: int = 0, **rest: Any) -> ListOffsetsPartition:
    return ListOffsetsPartition(partition_index=index, timestamp=timestamp, **rest)


def offset_in(version: int, answer: Any) -> int:
    return int(answer.old_style_offsets[0] if version == 0 else answer.offset)


@every_version
@pytest.mark.parametrize(("timestamp", "offset"), [(LATEST, 4), (EARLIEST, 0)])
def test_ends_of_the_log(filled: LoneBroker, version: int, timestamp: int, offset: int) -> None:
    (answer,) = ask(filled, version, at(timestamp))
    assert (answer.error_code, offset_in(version, answer)) == (0, offset)
    assert answer.leader_epoch == (0 if version >= 4 else -1)


@pytest.mark.parametrize("version", range(1, 10))
@pytest.mark.parametrize(
    ("after_ms", "offset", "timestamp"),
    [(-5000, 0, START_MS), (1, 1, START_MS + 1000), (3000, 3, START_MS + 3000), (3001, -1, -1)],
)
def test_the_first_record_at_or_after_a_time(
    filled: LoneBroker, version: int, after_ms: int, offset: int, timestamp: int
) -> None:
    (answer,) = ask(filled, version, at(START_MS + after_ms))
    assert (answer.error_code, answer.offset, answer.timestamp) == (0, offset, timestamp)


@every_version
@pytest.mark.parametrize(
    ("timestamp", "since"), [(MAX_TIMESTAMP, 7), (EARLIEST_LOCAL, 8), (LATEST_TIERED, 9), (-6, 99)]
)
def test_special_times_came_one_by_one(
    filled: LoneBroker, version: int, timestamp: int, since: int
) -> None:
    (answer,) = ask(filled, version, at(timestamp))
    expected = ErrorCode.NONE if version >= since else ErrorCode.UNSUPPORTED_VERSION
    assert answer.error_code == expected


def test_the_largest_timestamp(filled: LoneBroker) -> None:
    (answer,) = ask(filled, 9, at(MAX_TIMESTAMP))
    assert (answer.offset, answer.timestamp) == (3, START_MS + 3000)


@every_version
@pytest.mark.parametrize(
    ("name", "index", "error"),
    [
        ("nowhere", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("", 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", -1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("orders", 2**31 - 1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("elsewhere", 0, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_what_is_not_led_here(
    filled: LoneBroker, version: int, name: str, index: int, error: ErrorCode
) -> None:
    (answer,) = ask(filled, version, at(LATEST, index), name=name)
    assert (answer.partition_index, answer.error_code) == (index, error)


@every_version
def test_a_partition_asked_twice(filled: LoneBroker, version: int) -> None:
    answers = ask(filled, version, at(LATEST), at(EARLIEST))
    expected = ErrorCode.NONE if version == 0 else ErrorCode.INVALID_REQUEST
    assert [answer.error_code for answer in answers] == [expected, expected]


@pytest.mark.parametrize(
    ("count", "error", "offsets"),
    [
        (-1, ErrorCode.UNKNOWN_SERVER_ERROR, []),  # as Kafka
        (0, ErrorCode.NONE, []),
        (1, ErrorCode.NONE, [4]),
        (2**31 - 1, ErrorCode.NONE, [4, 0]),
    ],
)
def test_version_0_answers_up_to_so_many_offsets(
    filled: LoneBroker, count: int, error: ErrorCode, offsets: list[int]
) -> None:
    (answer,) = ask(filled, 0, at(LATEST, max_num_offsets=count))
    assert (answer.error_code, answer.old_style_offsets) == (error, offsets)


@pytest.mark.parametrize("version", range(4, 10))
def test_a_later_leader_epoch_is_unknown(filled: LoneBroker, version: int) -> None:
    (answer,) = ask(filled, version, at(LATEST, current_leader_epoch=3))
    assert answer.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


@pytest.mark.parametrize("version", OffsetForLeaderEpoch.versions)
@pytest.mark.parametrize(
    ("name", "epoch", "expected"),
    [
        ("orders", 0, (ErrorCode.NONE, 0, 4)),
        ("orders", 7, (ErrorCode.NONE, -1, -1)),
        ("orders", -1, (ErrorCode.NONE, -1, -1)),
        ("elsewhere", 0, (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1, -1)),
        ("nowhere", 0, (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)),
    ],
)
def test_the_end_of_a_leader_epoch(
    filled: LoneBroker, version: int, name: str, epoch: int, expected: tuple[ErrorCode, int, int]
) -> None:
    asked = OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
    topic = OffsetForLeaderTopic(topic=name, partitions=[asked])
    reply = filled.ask(OffsetForLeaderEpochRequest(topics=[topic]), version)
    (answer,) = reply.topics[0].partitions
    error, leader_epoch, end_offset = expected
    assert (answer.error_code, answer.end_offset) == (error, end_offset)
    assert answer.leader_epoch == (leader_epoch if version >= 1 else -1)
