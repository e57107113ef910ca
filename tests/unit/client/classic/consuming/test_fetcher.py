"""Fetching from one broker: what is handed out, what is handed back, and what is begun anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from logquake.client.classic.channel import Dial
from logquake.client.classic.consuming.fetcher import BrokerFetcher
from logquake.client.classic.consuming.stream import PartitionTopicInfo, StreamBuffer
from logquake.client.classic.errors import MessageTooLargeError
from logquake.client.classic.messages import Message, encode_messages
from logquake.client.classic.settings.consumer import ConsumerConfig
from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.errors import CorruptRecordError
from logquake.client.settings import Address
from logquake.client.settings.reading import read
from logquake.wire.api import ApiKey
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from logquake.wire.messages.offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.topic_partition import TopicPartition
from tests.unit.client.cluster_in_memory import FakeNetwork
from tests.waiting import wait_for

PLACE = TopicPartition("t", 0)
DATA = encode_messages([Message(b"a"), Message(b"b")], Codec.NONE)

Answer = Callable[[int], PartitionData]


class Broker:
    """It says of the one partition what ``answer`` has for an offset."""

    def __init__(self, network: FakeNetwork, answer: Answer) -> None:
        self._answer = answer
        self.earliest = [0]
        network.handlers[ApiKey.FETCH] = self._fetch
        network.handlers[ApiKey.LIST_OFFSETS] = self._offsets

    def _fetch(self, request: Any, _: Address) -> FetchResponse:
        topics = [
            FetchableTopicResponse(topic=topic.topic, partitions=[self._answer(each.fetch_offset)])
            for topic in request.topics
            for each in topic.partitions
        ]
        return FetchResponse(responses=topics)

    def _offsets(self, _request: Any, _: Address) -> ListOffsetsResponse:
        told = ListOffsetsPartitionResponse(
            partition_index=0, error_code=0, old_style_offsets=self.earliest
        )
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[told])])


def data(
    records: bytes = b"", high_watermark: int = 2, code: ErrorCode = ErrorCode.NONE
) -> PartitionData:
    return PartitionData(
        partition_index=0, error_code=code, high_watermark=high_watermark, records=records
    )


def from_the_log(offset: int) -> PartitionData:
    return data(DATA if offset == 0 else b"")


@pytest.fixture
def fetching(dial: Dial) -> Callable[..., Any]:
    config = read(
        ConsumerConfig,
        {"zookeeper.connect": "none", "group.id": "g", "auto.offset.reset": "smallest"},
    )

    @contextmanager
    def fetching(offset: int) -> Iterator[tuple[StreamBuffer, PartitionTopicInfo, set[Any]]]:
        buffer = StreamBuffer(2)
        info = PartitionTopicInfo(PLACE, offset, buffer)
        back: set[TopicPartition] = set()

        def hand_back(places: Collection[TopicPartition]) -> None:
            back.update(places)

        consumer = SimpleConsumer("one", 9092, 1_000, dial=dial)
        fetcher = BrokerFetcher("fetcher", config, consumer, hand_back)
        try:
            fetcher.add({PLACE: info})
            yield buffer, info, back
        finally:
            fetcher.stop()
            fetcher.join()

    return fetching


def taken(buffer: StreamBuffer) -> list[bytes | None]:
    found = [buffer.take(90_000) for _ in range(2)]
    return [each[1].message.payload for each in found if each is not None]


def until_it_fails(buffer: StreamBuffer) -> None:
    while True:
        buffer.take(90_000)


def test_what_is_fetched_is_handed_out(network: FakeNetwork, fetching: Any) -> None:
    Broker(network, from_the_log)
    with fetching(0) as (buffer, info, back):
        assert taken(buffer) == [b"a", b"b"]
        assert (info.consumed_offset, info.fetched_offset, back) == (2, 2, set())


@pytest.mark.parametrize("offset", [-1, 1_000], ids=["nothing is committed", "it is gone"])
def test_it_begins_where_the_reset_says(network: FakeNetwork, fetching: Any, offset: int) -> None:
    def answer(at: int) -> PartitionData:
        return data(code=ErrorCode.OFFSET_OUT_OF_RANGE) if at == 1_000 else from_the_log(at)

    Broker(network, answer)
    with fetching(offset) as (buffer, info, _):
        assert taken(buffer) == [b"a", b"b"]
        assert info.consumed_offset == 2


@pytest.mark.parametrize(
    "broken",
    [
        lambda _: data(code=ErrorCode.NOT_LEADER_OR_FOLLOWER),
        lambda _: data(b"\xff" * 40),
        lambda _: PartitionData(partition_index=5, error_code=0, high_watermark=0, records=b""),
        lambda _: data(bytes(16) + b"\x09" + bytes(30)),
    ],
    ids=["another leads", "no messages", "another partition", "a magic that nobody knows"],
)
def test_what_it_cannot_fetch_is_handed_back(
    network: FakeNetwork, fetching: Any, broken: Answer
) -> None:
    Broker(network, broken)
    with fetching(0) as (buffer, info, back):
        wait_for("partition back", lambda: back, lambda found: found == {PLACE})
        assert (len(buffer), info.fetched_offset) == (0, 0)


def test_a_broker_that_is_gone(network: FakeNetwork, fetching: Any) -> None:
    network.refused.add(Address("one", 9092))
    with fetching(0) as (_, _, back):
        wait_for("partition back", lambda: back)


@pytest.mark.parametrize("records", [b"", DATA[:20]], ids=["of today", "of its time"])
def test_a_message_that_does_not_fit(network: FakeNetwork, fetching: Any, records: bytes) -> None:
    """Nothing came of it, or its beginning."""
    Broker(network, lambda _: data(records))
    with fetching(0) as (buffer, info, _), pytest.raises(MessageTooLargeError):
        buffer.take(90_000)
    assert info.consumed_offset == 0


@pytest.mark.parametrize(
    "broken", [b"", DATA[:-1] + b"c"], ids=["a message that does not fit", "a damaged one"]
)
def test_a_stream_that_has_failed_keeps_no_other_waiting(
    network: FakeNetwork, dial: Dial, broken: bytes
) -> None:
    """Of the same broker, though more is there for the one that has failed than it has room for."""
    keys = {"zookeeper.connect": "none", "group.id": "g"}
    failing, sound = StreamBuffer(1), StreamBuffer(1)
    first, behind, other = (
        PartitionTopicInfo(TopicPartition("t", number), 0, buffer)
        for number, buffer in enumerate((failing, failing, sound))
    )
    records = {0: broken, 1: DATA, 2: DATA}

    def fetch(request: Any, _: Address) -> FetchResponse:
        topics = [
            FetchableTopicResponse(
                topic="t",
                partitions=[
                    PartitionData(
                        partition_index=each.partition,
                        error_code=0,
                        high_watermark=10,
                        records=records[each.partition] if each.fetch_offset == 0 else b"",
                    )
                    for each in topic.partitions
                ],
            )
            for topic in request.topics
        ]
        return FetchResponse(responses=topics)

    network.handlers[ApiKey.FETCH] = fetch
    consumer = SimpleConsumer("one", 9092, 1_000, dial=dial)
    fetcher = BrokerFetcher("fetcher", read(ConsumerConfig, keys), consumer, lambda _: None)
    try:
        fetcher.add({first.place: first, behind.place: behind})
        with pytest.raises((MessageTooLargeError, CorruptRecordError)):
            until_it_fails(failing)
        fetcher.add({other.place: other})
        assert taken(sound) == [b"a", b"b"]
    finally:
        fetcher.stop()
        fetcher.join()


def test_an_offset_that_is_not_told(network: FakeNetwork, fetching: Any) -> None:
    broker = Broker(network, from_the_log)
    broker.earliest = []
    with fetching(-1) as (_, _, back):
        wait_for("partition back", lambda: back)
