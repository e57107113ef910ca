"""Whatever brokers say that is well-formed: each call of a consumer's ends in time, with a value or
an error of ours, offsets rise, and nobody goes round and round.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from random import Random

import pytest

from logquake.client.consumer.fetch.taken import Taken
from logquake.client.errors import ClientError
from logquake.wire.api import ApiKey
from logquake.wire.messages.api_versions import ApiVersionsResponse
from logquake.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from logquake.wire.messages.offsets import (
    EpochEndOffset,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from logquake.wire.records import Record, encode_batch
from logquake.wire.schema import Message
from logquake.wire.sentinels import EARLIEST_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition
from tests.doubles.absurd_answers import absurd
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork, Handler
from tests.unit.client.consumer.group.model_coordinator import ModelCoordinator
from tests.unit.client.consumer.lone_consumer import LoneConsumer

PLACES = [TopicPartition("t", 0), TopicPartition("t", 1)]
END = 1_000
SEEDS = range(40)
CALLS = 60
TIMEOUT_MS = 700
ONE_IN = 6  # answers is absurd
COORDINATED = (
    ApiKey.FIND_COORDINATOR,
    ApiKey.JOIN_GROUP,
    ApiKey.SYNC_GROUP,
    ApiKey.HEARTBEAT,
    ApiKey.LEAVE_GROUP,
    ApiKey.OFFSET_COMMIT,
    ApiKey.OFFSET_FETCH,
)


class AbsurdNetwork(FakeNetwork):
    """Each answer takes a millisecond."""

    def __init__(self, random: Random, clock: FakeClock) -> None:
        super().__init__(clock)
        self.random = random

    def reply(self, answer: Message, version: int) -> Message:
        self.clock.now += 1
        if isinstance(answer, ApiVersionsResponse) or self.random.randrange(ONE_IN):
            return answer  # in which versions it is asked is another matter
        return absurd(answer, version, self.random)


def fetched(request: FetchRequest, _: object) -> FetchResponse:
    """Batches of ten, up to the end."""
    topics = []
    for topic in request.topics:
        partitions = []
        for one in topic.partitions:
            first = one.fetch_offset - one.fetch_offset % 10
            records = [Record(at, 1, None, b"v") for at in range(first, min(first + 10, END))]
            data = PartitionData(partition_index=one.partition, error_code=0, high_watermark=END)
            if records:
                data.records = memoryview(bytes(encode_batch(records, base_offset=first)))
            partitions.append(data)
        topics.append(FetchableTopicResponse(topic_id=topic.topic_id, partitions=partitions))
    return FetchResponse(session_id=0, responses=topics)


def listed(request: ListOffsetsRequest, _: object) -> ListOffsetsResponse:
    topics = [ListOffsetsTopicResponse(name=topic.name) for topic in request.topics]
    for asked, told in zip(request.topics, topics, strict=True):
        told.partitions = [
            ListOffsetsPartitionResponse(
                partition_index=each.partition_index,
                offset=0 if each.timestamp == EARLIEST_TIMESTAMP else END,
                leader_epoch=5,
            )
            for each in asked.partitions
        ]
    return ListOffsetsResponse(topics=topics)


def epochs(request: OffsetForLeaderEpochRequest, _: object) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    EpochEndOffset(
                        partition=each.partition, leader_epoch=each.leader_epoch, end_offset=END
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


class Program:
    """Of one consumer's, which calls whatever there is."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        coordinator = ModelCoordinator(self.random)
        told = partial(coordinator.answer, refuses=False)
        handlers: dict[ApiKey, Handler] = {
            **dict.fromkeys(COORDINATED, lambda request, _: told(request)),
            ApiKey.FETCH: fetched,
            ApiKey.LIST_OFFSETS: listed,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: epochs,
        }
        self.lone = LoneConsumer(
            handlers,
            lambda clock: AbsurdNetwork(self.random, clock),
            group_id="g",
            auto_offset_reset="earliest",
            default_api_timeout_ms=TIMEOUT_MS,
            request_timeout_ms=400,
            session_timeout_ms=6_000,
            heartbeat_interval_ms=500,
        )
        self.consuming = self.lone.consuming

    def poll(self) -> None:
        before: dict[TopicPartition, int] = {}
        for record in self.lone.call(
            self.consuming.poll(self.random.choice((0, 50, 500)), Taken())
        ):
            assert before.get(record.place, -1) < record.offset < 2**63 - 1
            before[record.place] = record.offset

    def ask(self) -> None:
        lookups, committing = self.consuming.lookups, self.consuming.committing
        place = self.random.choice(PLACES)
        found: Mapping[TopicPartition, object] = self.lone.call(
            self.random.choice(
                (
                    lambda: lookups.beginning_offsets([place], TIMEOUT_MS),
                    lambda: lookups.end_offsets([place], TIMEOUT_MS),
                    lambda: lookups.offsets_for_times({place: 5}, TIMEOUT_MS),
                    lambda: committing.committed([place], TIMEOUT_MS),
                )
            )()
        )
        assert found.keys() == {place}

    def ask_about_topics(self) -> None:
        lookups = self.consuming.lookups
        self.lone.call(lookups.list_topics(TIMEOUT_MS))
        self.lone.call(lookups.partitions_for("t", TIMEOUT_MS))

    def commit(self) -> None:
        if self.random.random() < 0.5:
            self.lone.call(self.consuming.committing.commit_async(None, None))
        self.lone.call(self.consuming.committing.commit(None, TIMEOUT_MS))

    def ask_where(self) -> None:
        for place in self.consuming.assignment():
            assert self.lone.call(self.consuming.seeking.position(place, TIMEOUT_MS)) >= 0
            self.consuming.lookups.current_lag(place)
        self.consuming.metrics()

    def seek(self) -> None:
        for place in self.consuming.assignment():
            self.consuming.seeking.seek(place, self.random.randrange(END))

    def do_nothing(self) -> None:
        self.lone.be_left_alone(self.random.randrange(2_000))

    def call_anything(self) -> None:
        began_ms, passes = self.lone.clock.now, self.lone.passes
        self.lone.most_passes = passes + 20_000
        others = self.ask, self.ask_about_topics, self.commit, self.ask_where, self.seek
        call = self.random.choice([self.poll] * 3 + [*others, self.do_nothing])
        with suppress(ClientError):
            call()
        took_ms = self.lone.clock.now - began_ms
        assert took_ms <= 20 * TIMEOUT_MS, call
        assert self.lone.passes - passes <= 50 + 10 * took_ms, call


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_brokers_say_each_call_of_a_consumer_ends(seed: int) -> None:
    program = Program(seed)
    lone, consuming = program.lone, program.consuming
    if seed % 2:
        lone.call(consuming.subscribe(["t"], None))
    else:
        lone.call(consuming.assign(PLACES))
    for _ in range(CALLS):
        program.call_anything()
    lone.call(consuming.close(1_000))
