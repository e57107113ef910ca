"""A program's loop over records: what it was not given is not read, whatever it does amid it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.consumer.interceptors import ConsumerInterceptor
from logquake.client.consumer.records import ConsumerRecord, ConsumerRecords
from logquake.wire.api import ApiKey
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.messages.offsets import (
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeTopology
from tests.unit.client.consumer.lone_consumer import LoneConsumer
from tests.unit.client.cut_off import CutOffError, cut_off_after, every_step

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)
COUNT = 5
BATCH = bytes(
    encode_batch([Record(at, 1_000, None, b"v%d" % at) for at in range(COUNT)], leader_epoch=5)
)
PATIENCE_MS = MAX_AGE_MS = 1_000


def share(asked: Any) -> PartitionData:
    return PartitionData(
        partition_index=asked.partition,
        high_watermark=COUNT,
        last_stable_offset=COUNT,
        log_start_offset=0,
        records=BATCH if asked.fetch_offset < COUNT else b"",
    )


def reading(*places: TopicPartition, **keys: Any) -> LoneConsumer:
    lone = LoneConsumer({}, **keys)

    def answer(request: Any, _: object) -> FetchResponse:
        lone.clock.now += 1
        topics = [
            FetchableTopicResponse(
                topic_id=topic.topic_id, partitions=list(map(share, topic.partitions))
            )
            for topic in request.topics
        ]
        return FetchResponse(session_id=0, responses=topics)

    lone.network.handlers[ApiKey.FETCH] = answer
    lone.call(lone.consuming.assign(places))
    for place in places:
        lone.consuming.seeking.seek(place, 0)
    return lone


def loop(lone: LoneConsumer) -> Iterator[ConsumerRecord]:
    """As the facades have it."""
    while True:
        yield from lone.consuming.one_by_one
        lone.call(lone.consuming.poll_for_loop(PATIENCE_MS))


def given(lone: LoneConsumer, count: int) -> list[tuple[int, int]]:
    return [(each.partition, each.offset) for each in itertools.islice(loop(lone), count)]


def position(lone: LoneConsumer, place: TopicPartition = FIRST) -> int:
    return lone.call(lone.consuming.seeking.position(place, PATIENCE_MS))


def polled(lone: LoneConsumer) -> list[int]:
    for _ in range(10):
        if records := lone.call(lone.consuming.poll(PATIENCE_MS, Taken())):
            return [record.offset for record in records]
    return []


def test_another_loop_goes_on_behind_the_record_that_was_given_last() -> None:
    lone = reading(FIRST)
    assert given(lone, 2) == [(0, 0), (0, 1)]
    assert position(lone) == 2
    asked = len(lone.network.requests[ApiKey.FETCH])
    assert given(lone, 3) == [(0, 2), (0, 3), (0, 4)]
    assert position(lone) == COUNT
    assert len(lone.network.requests[ApiKey.FETCH]) == asked  # it was there


def test_so_does_a_poll() -> None:
    lone = reading(FIRST)
    given(lone, 2)
    assert polled(lone) == [2, 3, 4]
    assert position(lone) == COUNT


def test_how_far_it_is_behind_goes_by_what_it_was_given() -> None:
    lone = reading(FIRST)
    given(lone, 2)
    assert lone.consuming.lookups.current_lag(FIRST) == COUNT - 2


def test_what_is_paused_amid_it_is_read_on_when_it_is_resumed() -> None:
    lone = reading(FIRST, SECOND)
    (first, _), _ = given(lone, 2)
    place, other = (FIRST, SECOND) if first == 0 else (SECOND, FIRST)
    lone.consuming.seeking.pause([place])
    assert given(lone, COUNT) == [(other.partition, at) for at in range(COUNT)]
    assert position(lone, place) == 2
    lone.consuming.seeking.resume([place])
    assert given(lone, 3) == [(first, 2), (first, 3), (first, 4)]


def test_it_goes_on_where_was_sought_amid_it() -> None:
    lone = reading(FIRST)
    given(lone, 2)
    lone.consuming.seeking.seek(FIRST, 1)
    assert given(lone, 2) == [(0, 1), (0, 2)]
    lone.consuming.seeking.seek(FIRST, 4)
    assert given(lone, 1) == [(0, 4)]


def test_whatever_cuts_off_the_next_record_hides_no_other() -> None:
    for steps in every_step():
        lone = reading(FIRST)
        given(lone, 2)
        try:
            cut_off_after(steps, partial(next, lone.consuming.one_by_one))
        except CutOffError:
            left = [at for _, at in given(lone, COUNT - 3)]  # the one in hand may count as read
            assert left in ([2, 3], [3, 4])
            continue
        assert steps > 10
        break


def test_what_is_assigned_no_more_is_given_no_more() -> None:
    lone = reading(FIRST)
    given(lone, 2)
    lone.call(lone.consuming.assign([SECOND]))
    lone.consuming.seeking.seek(SECOND, 0)
    assert given(lone, 1) == [(1, 0)]
    lone.call(lone.consuming.assign([FIRST]))
    lone.consuming.seeking.seek(FIRST, 3)
    assert given(lone, 1) == [(0, 3)]


class EverySecond(ConsumerInterceptor):
    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        kept = {place: records.records(place)[::2] for place in records.partitions}
        return ConsumerRecords(kept, records.next_offsets)


def test_what_an_interceptor_leaves_out_is_read() -> None:
    lone = reading(FIRST, interceptor_classes=[EverySecond()])
    assert given(lone, 2) == [(0, 0), (0, 2)]
    assert position(lone) == 4
    assert given(lone, 1) == [(0, 4)]
    assert position(lone) == COUNT


# A new leader, whose log parts from what was read


def led_anew(lone: LoneConsumer, parts_at: int | None, begins_at: int = 0) -> None:
    """What it has from there on is of its own; None: of what was read it has nothing."""

    def ends(request: Any, _: object) -> OffsetForLeaderEpochResponse:
        end = EpochEndOffset(partition=0)
        if parts_at is not None:
            end = EpochEndOffset(partition=0, leader_epoch=5, end_offset=parts_at)
        told = OffsetForLeaderTopicResult(topic=request.topics[0].topic, partitions=[end])
        return OffsetForLeaderEpochResponse(topics=[told])

    def begins(request: Any, _: object) -> ListOffsetsResponse:
        told = ListOffsetsPartitionResponse(partition_index=0, offset=begins_at)
        topic = ListOffsetsTopicResponse(name=request.topics[0].name, partitions=[told])
        return ListOffsetsResponse(topics=[topic])

    topology = FakeTopology(leaders={0: (2, 6)})
    lone.network.handlers |= {
        ApiKey.METADATA: topology.metadata,
        ApiKey.OFFSET_FOR_LEADER_EPOCH: ends,
        ApiKey.LIST_OFFSETS: begins,
    }
    lone.be_left_alone(3 * MAX_AGE_MS)


def amid(count: int) -> LoneConsumer:
    lone = reading(FIRST, auto_offset_reset="earliest", metadata_max_age_ms=MAX_AGE_MS)
    assert len(given(lone, count)) == count
    return lone


@pytest.mark.parametrize("count", [3, 4])
def test_what_a_new_leader_has_in_the_place_of_what_was_given_is_read(count: int) -> None:
    lone = amid(count)
    led_anew(lone, parts_at=2)
    assert position(lone) == 2
    assert polled(lone) == [2, 3, 4]


def test_what_was_not_given_is_read_from_before_where_its_log_parts() -> None:
    lone = amid(1)
    led_anew(lone, parts_at=3)
    assert position(lone) == 1
    assert polled(lone) == [1, 2, 3, 4]


def test_a_loop_goes_on_with_what_was_polled_and_then_where_its_log_parts() -> None:
    lone = amid(3)
    led_anew(lone, parts_at=2)
    assert given(lone, 5) == [(0, 3), (0, 4), (0, 2), (0, 3), (0, 4)]


@pytest.mark.parametrize("begin", [0, 1, COUNT + 3])
def test_a_reset_is_not_undone_by_what_was_not_given(begin: int) -> None:
    lone = amid(3)
    led_anew(lone, parts_at=None, begins_at=begin)
    assert position(lone) == begin
    lone.consuming.seeking.pause([FIRST])  # which takes back what was not given
    assert position(lone) == begin
