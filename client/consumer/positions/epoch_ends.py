"""OffsetForLeaderEpoch: a consumer's request, and its answers (OffsetsForLeaderEpochUtils)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from logquake.client.consumer.position import EpochEnd, FetchPosition
from logquake.client.consumer.positions.leader_requests import Question
from logquake.client.errors import ClientError, broker_error
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from logquake.wire.sentinels import CONSUMER_REPLICA_ID
from logquake.wire.topic_partition import TopicPartition

# Earlier versions require ClusterAction, a permission that clients lack (KIP-320).
SINCE = 3


@dataclass(slots=True)
class Ends:
    """``again``: to be requested again. ``refused``: an error that the program has to handle."""

    told: dict[TopicPartition, EpochEnd] = field(default_factory=dict)
    again: set[TopicPartition] = field(default_factory=set)
    refused: ClientError | None = None


def question(asked: Mapping[TopicPartition, FetchPosition]) -> Question:
    topics: dict[str, list[OffsetForLeaderPartition]] = {}
    for place, position in sorted(asked.items()):
        topics.setdefault(place.topic, []).append(
            OffsetForLeaderPartition(
                partition=place.partition,
                leader_epoch=position.epoch,
                current_leader_epoch=position.leader.epoch,
            )
        )
    request = OffsetForLeaderEpochRequest(
        replica_id=CONSUMER_REPLICA_ID,
        topics=[OffsetForLeaderTopic(topic=topic, partitions=of) for topic, of in topics.items()],
    )
    return Question(request, OffsetForLeaderEpochResponse, SINCE)


def ends(
    asked: Mapping[TopicPartition, FetchPosition], answer: OffsetForLeaderEpochResponse
) -> Ends:
    """Partitions that were not requested are ignored."""
    result = Ends(again=set(asked))
    for topic in answer.topics:
        for told in topic.partitions:
            place = TopicPartition(topic.topic, told.partition)
            error = ErrorCode.of_peer(told.error_code)
            if place not in asked:
                continue
            if error is ErrorCode.NONE:
                result.again.discard(place)
                result.told[place] = EpochEnd(told.leader_epoch, told.end_offset)
            elif error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                result.again.discard(place)
                result.refused = broker_error(told.error_code, f"topic {place.topic}")
    return result
