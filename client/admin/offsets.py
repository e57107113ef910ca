"""Offsets that leaders know: listing them, and deleting the records before one.

The handlers of calls by partition: ListOffsetsHandler and DeleteRecordsHandler.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from logquake.client.admin.asking.asks import Ask, Broker, Terms, fixed
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.asking.leaders import Leaders, outcome_of
from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.errors import ClientError, MalformedResponseError, UnsupportedVersionError
from logquake.client.isolation import Isolation
from logquake.client.network.snapshot import STALE
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from logquake.wire.schema import Message
from logquake.wire.sentinels import (
    CONSUMER_REPLICA_ID,
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
    NO_LEADER_EPOCH,
    UNKNOWN_OFFSET,
)
from logquake.wire.topic_partition import TopicPartition

Place = TopicPartition


class OffsetSpec(IntEnum):
    """A special offset; any other number is a timestamp, for the first record at or after it."""

    LATEST = LATEST_TIMESTAMP
    EARLIEST = EARLIEST_TIMESTAMP
    MAX_TIMESTAMP = MAX_TIMESTAMP
    EARLIEST_LOCAL = EARLIEST_LOCAL_TIMESTAMP
    LATEST_TIERED = LATEST_TIERED_TIMESTAMP


_SINCE: dict[int, int] = {
    OffsetSpec.MAX_TIMESTAMP: 7,
    OffsetSpec.EARLIEST_LOCAL: 8,
    OffsetSpec.LATEST_TIERED: 9,
}
_ONE_OFFSET_SINCE = 1
_COMMITTED_SINCE = 2


@dataclass(frozen=True, slots=True)
class ListOffsetsResultInfo:
    """``offset`` is UNKNOWN_OFFSET if no record matches, and ``timestamp`` NO_TIMESTAMP if none was
    requested.
    """

    offset: int
    timestamp: int
    leader_epoch: int | None


class ListOffsets:
    """Each of ``specs`` is a time in Unix milliseconds, or an `OffsetSpec`."""

    name = "listOffsets"

    def __init__(self, specs: Mapping[Place, int], isolation_level: Isolation) -> None:
        self.lookup = Leaders(missing=())
        self._specs = specs
        self._isolation_level = isolation_level

    def asks(self, broker_id: int, keys: list[Place]) -> Iterator[tuple[Ask[Message], list[Place]]]:
        request = ListOffsetsRequest(
            replica_id=CONSUMER_REPLICA_ID,
            isolation_level=self._isolation_level,
            topics=[
                ListOffsetsTopic(
                    name=topic,
                    partitions=[
                        ListOffsetsPartition(
                            partition_index=each, timestamp=self._specs[Place(topic, each)]
                        )
                        for each in partitions
                    ],
                )
                for topic, partitions in by_topic(keys).items()
            ],
        )

        def on_terms(terms: Terms) -> Message:
            self._check_version(keys, terms.version)
            return request

        yield Ask(Broker(broker_id), ListOffsetsResponse, on_terms), keys

    def _check_version(self, keys: list[Place], version: int) -> None:
        needs = {_SINCE.get(self._specs[key], _ONE_OFFSET_SINCE) for key in keys}
        if self._isolation_level is Isolation.READ_COMMITTED:
            needs.add(_COMMITTED_SINCE)
        if version < max(needs):
            raise UnsupportedVersionError(
                f"the broker speaks ListOffsets up to {version}, and {max(needs)} is needed"
            )

    def outcome(
        self, reply: Answered[ListOffsetsResponse, Place]
    ) -> Outcome[Place, ListOffsetsResultInfo]:
        told = (
            (Place(topic.name, each.partition_index), each.error_code, _info(each))
            for topic in reply.answer.topics
            for each in topic.partitions
        )
        outcome = outcome_of(reply.keys, told, _MOVED, reply.node)
        for place, info in list(outcome.completed.items()):
            if info.offset < UNKNOWN_OFFSET:
                del outcome.completed[place]
                what = f"{reply.node} tells of offset {info.offset} of {place}"
                outcome.failed[place] = MalformedResponseError(what)
        return outcome

    def unsupported(
        self, keys: list[Place], error: UnsupportedVersionError
    ) -> dict[Place, ClientError]:
        """Specs for newer brokers fail; the others are requested again without them."""
        newer = [key for key in keys if self._specs[key] == OffsetSpec.MAX_TIMESTAMP]
        return dict.fromkeys(newer or keys, error)


def _info(told: ListOffsetsPartitionResponse) -> ListOffsetsResultInfo:
    epoch = None if told.leader_epoch == NO_LEADER_EPOCH else told.leader_epoch
    return ListOffsetsResultInfo(told.offset, told.timestamp, epoch)


_MOVED = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE})


@dataclass(frozen=True, slots=True)
class DeletedRecords:
    """The first offset that remains, on all live replicas."""

    low_watermark: int


class DeleteRecords:
    """``before`` is the first offset to keep; HIGH_WATERMARK deletes all committed records."""

    name = "deleteRecords"

    def __init__(self, before: Mapping[Place, int], timeout_ms: int) -> None:
        self.lookup = Leaders()
        self._before = before
        self._timeout_ms = timeout_ms

    def asks(self, broker_id: int, keys: list[Place]) -> Iterator[tuple[Ask[Message], list[Place]]]:
        request = DeleteRecordsRequest(
            topics=[
                DeleteRecordsTopic(
                    name=topic,
                    partitions=[
                        DeleteRecordsPartition(
                            partition_index=each, offset=self._before[Place(topic, each)]
                        )
                        for each in partitions
                    ],
                )
                for topic, partitions in by_topic(keys).items()
            ],
            timeout_ms=self._timeout_ms,
        )
        yield Ask(Broker(broker_id), DeleteRecordsResponse, fixed(request)), keys

    def outcome(
        self, reply: Answered[DeleteRecordsResponse, Place]
    ) -> Outcome[Place, DeletedRecords]:
        told = (
            (
                Place(topic.name, each.partition_index),
                each.error_code,
                DeletedRecords(each.low_watermark),
            )
            for topic in reply.answer.topics
            for each in topic.partitions
        )
        return outcome_of(reply.keys, told, STALE, reply.node)

    def unsupported(
        self, keys: list[Place], error: UnsupportedVersionError
    ) -> dict[Place, ClientError]:
        return dict.fromkeys(keys, error)
