"""Answers that are well-formed, and cannot be: they are errors, and nothing is read by them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from logquake.client.errors import MalformedResponseError, TimedOutError
from logquake.wire.api import ApiKey
from logquake.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from logquake.wire.messages.group_offsets import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeTopology
from tests.unit.client.consumer.lone_consumer import LoneConsumer

PLACE, OTHER = TopicPartition("t", 0), TopicPartition("t", 1)
TIMEOUT_MS = 1000


# Committed offsets


def committed_at(group_id: str, offsets: dict[TopicPartition, int]) -> OffsetFetchResponseGroup:
    topics = [
        OffsetFetchResponseTopics(
            name=place.topic,
            partitions=[
                OffsetFetchResponsePartitions(
                    partition_index=place.partition, committed_offset=offset, error_code=0
                )
            ],
        )
        for place, offset in offsets.items()
    ]
    return OffsetFetchResponseGroup(group_id=group_id, topics=topics, error_code=0)


def of_group(*groups: OffsetFetchResponseGroup) -> LoneConsumer:
    found = Coordinator(key="g", node_id=1, host="one", port=9092, error_code=0, error_message="")

    def fetch(_request: OffsetFetchRequest, _address: object) -> OffsetFetchResponse:
        return OffsetFetchResponse(groups=list(groups))

    lone = LoneConsumer(
        {
            ApiKey.FIND_COORDINATOR: lambda *_: FindCoordinatorResponse(coordinators=[found]),
            ApiKey.OFFSET_FETCH: fetch,
            ApiKey.FETCH: lambda *_: None,
        },
        group_id="g",
    )
    lone.call(lone.consuming.assign([PLACE]))
    return lone


def committed(lone: LoneConsumer) -> object:
    return lone.call(lone.consuming.committing.committed([PLACE], TIMEOUT_MS))


def position(lone: LoneConsumer) -> object:
    return lone.call(lone.consuming.seeking.position(PLACE, TIMEOUT_MS))


@pytest.mark.parametrize("ask", [committed, position])
def test_what_another_group_has_committed_is_nobodys(ask: Callable[[LoneConsumer], object]) -> None:
    theirs = committed_at("theirs", {PLACE: 777})
    with pytest.raises(MalformedResponseError, match="group g: not of all partitions"):
        ask(of_group(theirs))
    assert position(of_group(theirs, committed_at("g", {PLACE: 5}), theirs)) == 5


def test_what_is_committed_of_other_partitions_is_passed_over() -> None:
    lone = of_group(committed_at("g", {PLACE: 5, OTHER: 6}))
    told = lone.call(lone.consuming.committing.committed([PLACE], TIMEOUT_MS))
    assert {place: at and at.offset for place, at in told.items()} == {PLACE: 5}


# Where logs begin and end


def listing(offsets: dict[TopicPartition, int]) -> LoneConsumer:
    def answer(request: ListOffsetsRequest, _: object) -> ListOffsetsResponse:
        partitions = [
            ListOffsetsPartitionResponse(partition_index=place.partition, offset=offset)
            for place, offset in offsets.items()
        ]
        topic = ListOffsetsTopicResponse(name=request.topics[0].name, partitions=partitions)
        return ListOffsetsResponse(topics=[topic])

    lone = LoneConsumer({ApiKey.LIST_OFFSETS: answer, ApiKey.FETCH: lambda *_: None})
    lone.call(lone.consuming.assign([PLACE]))
    return lone


def begin(lone: LoneConsumer) -> object:
    return lone.call(lone.consuming.lookups.beginning_offsets([PLACE], TIMEOUT_MS))


def end(lone: LoneConsumer) -> object:
    return lone.call(lone.consuming.lookups.end_offsets([PLACE], TIMEOUT_MS))


def at_time(lone: LoneConsumer) -> object:
    return lone.call(lone.consuming.lookups.offsets_for_times({PLACE: 1}, TIMEOUT_MS))


@pytest.mark.parametrize("ask", [begin, end, at_time, position])
@pytest.mark.parametrize("told", [{PLACE: -5}, {PLACE: -(2**63)}, {}, {OTHER: 3}], ids=str)
def test_offsets_that_cannot_be_are_an_error(
    ask: Callable[[LoneConsumer], object], told: dict[TopicPartition, int]
) -> None:
    with pytest.raises(MalformedResponseError, match=r"offset.* t-0"):
        ask(listing(told))


@pytest.mark.parametrize("ask", [begin, end, position])
def test_a_leader_that_cannot_say_yet_where_its_log_begins_or_ends_is_asked_again(
    ask: Callable[[LoneConsumer], object],
) -> None:
    """Without an error, as brokers of 0.10 do after their restart, others while the log is away."""
    told = {PLACE: -1}
    lone = listing(told)
    with pytest.raises(TimedOutError):
        ask(lone)
    assert 2 < len(lone.network.requests[ApiKey.LIST_OFFSETS]) <= TIMEOUT_MS // 100 + 2
    told[PLACE] = 7
    assert ask(lone) in (7, {PLACE: 7})


@pytest.mark.parametrize("untold", [{OTHER: -1}, {OTHER: -5}, {}], ids=str)
def test_a_partition_that_is_told_is_read_though_another_one_of_its_leader_is_not(
    untold: dict[TopicPartition, int],
) -> None:
    topology = FakeTopology(leaders={0: (1, 5), 1: (1, 7)})
    lone = listing({PLACE: 7, **untold})
    lone.network.handlers[ApiKey.METADATA] = topology.metadata
    lone.call(lone.consuming.assign([PLACE, OTHER]))
    lone.be_left_alone(TIMEOUT_MS)
    assert position(lone) == 7


def test_there_may_be_no_record_of_a_time() -> None:
    assert at_time(listing({PLACE: -1})) == {PLACE: None}
