"""ListOffsets: a consumer's request, and what responses mean (OffsetFetcherUtils)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from logquake.client.consumer.positions.leader_requests import Question
from logquake.client.errors import ClientError, MalformedResponseError, broker_error
from logquake.client.isolation import Isolation
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.sentinels import CONSUMER_REPLICA_ID, NO_TIMESTAMP, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

# The first version that has the isolation level, and the first that finds a record by its
# timestamp, and not a segment by the time of its file.
_SINCE_ISOLATION, _SINCE_TIMES = 2, 1


class OffsetAndTimestamp(NamedTuple):
    """The record that was found. At the log's end the timestamp is NO_TIMESTAMP; the leader epoch
    is NO_LEADER_EPOCH if the broker reports none.
    """

    offset: int
    timestamp_ms: int
    leader_epoch: int


class AskedTime(NamedTuple):
    """A timestamp, or one of the special values EARLIEST_TIMESTAMP and LATEST_TIMESTAMP."""

    timestamp_ms: int
    leader_epoch: int


@dataclass(slots=True)
class Listed:
    """A partition in neither has no such record. ``again``: retry, since the leader may have
    changed, or may be elected soon.

    ``refused``: an error that the program has to handle.
    """

    found: dict[TopicPartition, OffsetAndTimestamp] = field(default_factory=dict)
    again: set[TopicPartition] = field(default_factory=set)
    refused: ClientError | None = None


def question(
    asked: Mapping[TopicPartition, AskedTime], isolation: Isolation, *, by_time: bool
) -> Question:
    """``by_time`` excludes brokers that cannot search by record timestamp."""
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for place, time in sorted(asked.items()):
        topics.setdefault(place.topic, []).append(
            ListOffsetsPartition(
                partition_index=place.partition,
                timestamp=time.timestamp_ms,
                current_leader_epoch=time.leader_epoch,
            )
        )
    since = _SINCE_TIMES if by_time else 0
    if isolation is Isolation.READ_COMMITTED:
        since = _SINCE_ISOLATION
    request = ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID,
        isolation_level=isolation,
        topics=[ListOffsetsTopic(name=topic, partitions=of) for topic, of in topics.items()],
    )
    return Question(request, ListOffsetsResponse, since)


def listed(
    asked: Collection[TopicPartition], answer: ListOffsetsResponse, *, by_time: bool
) -> Listed:
    """Partitions that were not requested are ignored. ``by_time``: there may be no such record,
    while a log always has a beginning and an end.
    """
    result = Listed()
    untold = set(asked)
    for topic in answer.topics:
        for told in topic.partitions:
            place = TopicPartition(topic.name, told.partition_index)
            if place in asked:
                untold.discard(place)
                _take(result, place, told, by_time=by_time)
    if untold and result.refused is None:
        places = ", ".join(map(str, sorted(untold)))
        result.refused = MalformedResponseError(f"an answer about offsets, without {places}")
    return result


def _take(
    result: Listed, place: TopicPartition, told: ListOffsetsPartitionResponse, *, by_time: bool
) -> None:
    error = ErrorCode.of_peer(told.error_code)
    if error is ErrorCode.NONE:
        found = _found(told)
        if found.offset >= 0:
            result.found[place] = found
        elif found.offset != UNKNOWN_OFFSET:
            result.refused = MalformedResponseError(f"offset {found.offset} of {place}")
        elif not by_time:  # from a leader without the log, or just taking over
            result.again.add(place)
    elif error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        result.refused = broker_error(told.error_code, f"topic {place.topic}")
    elif error is not ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:  # it has no timestamps: not found
        result.again.add(place)


def _found(told: ListOffsetsPartitionResponse) -> OffsetAndTimestamp:
    if told.old_style_offsets:  # version 0
        return OffsetAndTimestamp(told.old_style_offsets[0], NO_TIMESTAMP, told.leader_epoch)
    return OffsetAndTimestamp(told.offset, told.timestamp, told.leader_epoch)
