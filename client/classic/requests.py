"""The older clients' requests, as calls on a channel (kafka.api, in the versions of 0.8.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeVar

from logquake.client.classic.channel import Channel
from logquake.client.classic.messages import MessageSet
from logquake.client.errors import MalformedResponseError, check
from logquake.client.settings.addresses import Address
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from logquake.wire.sentinels import CONSUMER_REPLICA_ID, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

T = TypeVar("T")


class FetchFrom(NamedTuple):
    """One partition's part of a fetch (PartitionFetchInfo)."""

    offset: int
    fetch_size: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """One partition's part of the response (FetchResponsePartitionData); errors are codes."""

    error_code: int
    high_watermark: int
    messages: MessageSet


NOTHING = Fetched(ErrorCode.NONE, UNKNOWN_OFFSET, MessageSet(memoryview(b"")))
"""The result of a fetch from a broker that throttles us."""


class Written(NamedTuple):
    """ProducerResponseStatus."""

    error_code: int
    offset: int


def by_topic(asked: Mapping[TopicPartition, T]) -> Iterator[tuple[str, list[tuple[int, T]]]]:
    """In the given order."""
    for topic, places in groupby(sorted(asked), key=lambda place: place.topic):
        yield topic, [(place.partition, asked[place]) for place in places]


def exactly(asked: Iterable[TopicPartition], answered: Mapping[TopicPartition, T]) -> None:
    """Raises MalformedResponseError if a response has other partitions than requested."""
    if set(asked) != answered.keys():
        raise MalformedResponseError(
            f"asked about {sorted(map(str, asked))}, told of {sorted(map(str, answered))}"
        )


def fetch(
    channel: Channel,
    asked: Mapping[TopicPartition, FetchFrom],
    *,
    max_wait_ms: int,
    min_bytes: int,
) -> dict[TopicPartition, Fetched]:
    """A broker that throttles us returns no partitions. Raises as Channel.ask."""
    request = FetchRequest(
        replica_id=CONSUMER_REPLICA_ID,
        max_wait_ms=max_wait_ms,
        min_bytes=min_bytes,
        topics=[
            FetchTopic(
                topic=topic,
                partitions=[
                    FetchPartition(
                        partition=partition,
                        fetch_offset=each.offset,
                        partition_max_bytes=each.fetch_size,
                    )
                    for partition, each in partitions
                ],
            )
            for topic, partitions in by_topic(asked)
        ],
    )
    answer = channel.ask(request, FetchResponse)
    told = {
        TopicPartition(topic.topic, each.partition_index): Fetched(
            each.error_code, each.high_watermark, _message_set(each)
        )
        for topic in answer.responses
        for each in topic.partitions
    }
    exactly(asked.keys() & told.keys(), told)
    return told


def _message_set(told: PartitionData) -> MessageSet:
    return MessageSet(told.records if isinstance(told.records, memoryview) else memoryview(b""))


def produce(
    channel: Channel, sets: Mapping[TopicPartition, bytes], *, acks: int, timeout_ms: int
) -> dict[TopicPartition, Written] | None:
    """None with acks 0, which has no response. Raises as Channel.ask."""
    request = ProduceRequest(
        acks=acks,
        timeout_ms=timeout_ms,
        topic_data=[
            TopicProduceData(
                name=topic,
                partition_data=[
                    PartitionProduceData(index=partition, records=messages)
                    for partition, messages in partitions
                ],
            )
            for topic, partitions in by_topic(sets)
        ],
    )
    if acks == 0:
        channel.tell(request)
        return None
    answer = channel.ask(request, ProduceResponse)
    told = {
        TopicPartition(topic.name, each.index): Written(each.error_code, each.base_offset)
        for topic in answer.responses
        for each in topic.partition_responses
    }
    exactly(sets, told)
    return told


def offsets_before(
    channel: Channel, place: TopicPartition, time_ms: int, max_offsets: int
) -> list[int]:
    """The base offsets of segments last written before that time, and the log's end; newest first.
    Raises BrokerError, and as Channel.ask.
    """
    asked = ListOffsetsPartition(
        partition_index=place.partition, timestamp=time_ms, max_num_offsets=max_offsets
    )
    request = ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID,
        topics=[ListOffsetsTopic(name=place.topic, partitions=[asked])],
    )
    answer = channel.ask(request, ListOffsetsResponse)
    told = {
        TopicPartition(topic.name, each.partition_index): each
        for topic in answer.topics
        for each in topic.partitions
    }
    exactly([place], told)
    check(told[place].error_code, f"offsets of {place}")
    return told[place].old_style_offsets


def coordinator(channel: Channel, group: str) -> Address:
    """ConsumerMetadataRequest. Raises BrokerError, and as Channel.ask."""
    answer = channel.ask(FindCoordinatorRequest(key=group), FindCoordinatorResponse)
    check(answer.error_code, f"coordinator of {group}")
    return Address(answer.host, answer.port)
