"""ListOffsets: a consumer's request, and what answers mean (OffsetFetcherUtils)."""

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

# The first version that says whether a reader sees committed transactions alone, and the first
# that finds a record by its time, and not a segment by its file's.
_SINCE_ISOLATION, _SINCE_TIMES = 2, 1


class OffsetAndTimestamp(NamedTuple):
    """Of the record that was found. Of the log's end the time is NO_TIMESTAMP; the leader epoch is
    NO_LEADER_EPOCH of brokers that tell none.
    """

    offset: int
    timestamp_ms: int
    leader_epoch: int


class AskedTime(NamedTuple):
    """A time, or one that stands for a place: EARLIEST_TIMESTAMP, LATEST_TIMESTAMP."""

    timestamp_ms: int
    leader_epoch: int


@dataclass(slots=True)
class Listed:
    """What is in neither has no such record. ``again``: who leads may have changed, or comes soon.

    ``refused`` is what the program has to hear of.
    """

    found: dict[TopicPartition, OffsetAndTimestamp] = field(default_factory=dict)
    again: set[TopicPartition] = field(default_factory=set)
    refused: ClientError | None = None


def question(
    asked: Mapping[TopicPartition, AskedTime], isolation: Isolation, *, by_time: bool
) -> Question:
    """``by_time``: a broker that cannot look for the time of a record is not asked."""
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
    """What is told of partitions that were not asked about is passed over. ``by_time``: there may
    be no such record; a log always has a begin and an end.
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
        elif not by_time:  # of a leader that has the log not at hand, or is just taking it over
            result.again.add(place)
    elif error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        result.refused = broker_error(told.error_code, f"topic {place.topic}")
    elif error is not ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:  # it knows no times: none is found
        result.again.add(place)


def _found(told: ListOffsetsPartitionResponse) -> OffsetAndTimestamp:
    if told.old_style_offsets:  # version 0
        return OffsetAndTimestamp(told.old_style_offsets[0], NO_TIMESTAMP, told.leader_epoch)
    return OffsetAndTimestamp(told.offset, told.timestamp, told.leader_epoch)
