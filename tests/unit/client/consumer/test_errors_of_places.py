"""What a poll raises says of which partition, and of which offset: a program can seek past it."""

from __future__ import annotations

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.position import FetchPosition, LogTruncatedError, LogTruncation
from logquake.client.errors import CorruptRecordError, OffsetOutOfRangeError
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.consumer.lone_consumer import LoneConsumer

PLACE = TopicPartition("t", 1)


def reading(data: PartitionData) -> LoneConsumer:
    """Each Fetch is answered with that."""

    def fetch(request: FetchRequest, _: object) -> FetchResponse:
        of = FetchableTopicResponse(topic_id=request.topics[0].topic_id, partitions=[data])
        return FetchResponse(session_id=0, responses=[of])

    lone = LoneConsumer({ApiKey.FETCH: fetch}, auto_offset_reset="none")
    lone.call(lone.consuming.assign([PLACE]))
    lone.consuming.seeking.seek(PLACE, 5)
    return lone


def test_a_position_out_of_range() -> None:
    data = PartitionData(partition_index=1, error_code=ErrorCode.OFFSET_OUT_OF_RANGE)
    lone = reading(data)
    with pytest.raises(OffsetOutOfRangeError) as told:
        lone.call(lone.consuming.poll(1000, Taken()))
    assert told.value.offsets == {PLACE: 5}


def test_records_that_cannot_be_read() -> None:
    lone = reading(
        PartitionData(partition_index=1, high_watermark=9, records=memoryview(bytes(80)))
    )
    with pytest.raises(CorruptRecordError) as told:
        lone.call(lone.consuming.poll(1000, Taken()))
    assert (told.value.place, told.value.offset) == (PLACE, 5)


def test_a_log_that_was_cut_off() -> None:
    error = LogTruncatedError([LogTruncation(PLACE, FetchPosition(7, 2), None)])
    assert error.offsets == {PLACE: 7}
