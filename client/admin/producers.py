"""The producers of partitions, and aborting a hanging transaction (KIP-664).

The handlers of calls by partition: DescribeProducersHandler and AbortTransactionHandler.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from logquake.client.admin.asking.asks import Ask, Broker, fixed
from logquake.client.admin.asking.keyed import Answered, Outcome
from logquake.client.admin.asking.leaders import Leaders
from logquake.client.consumer.assignors.subscriptions import by_topic
from logquake.client.errors import (
    ClientError,
    MalformedResponseError,
    UnsupportedVersionError,
    broker_error,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    TopicRequest,
)
from logquake.wire.messages.transaction_admin import ProducerState as ToldProducer
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.schema import Message
from logquake.wire.topic_partition import TopicPartition

Place = TopicPartition


@dataclass(frozen=True, slots=True)
class ProducerState:
    """``coordinator_epoch`` is None if the producer never ended a transaction there, and
    ``current_transaction_start_offset`` if it has none open.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int | None
    current_transaction_start_offset: int | None


class DescribeProducers:
    """As known to the leaders, or to the given broker."""

    name = "describeProducers"

    def __init__(self, broker_id: int | None) -> None:
        self.lookup = Leaders()
        self._broker_id = broker_id

    def asks(self, broker_id: int, keys: list[Place]) -> Iterator[tuple[Ask[Message], list[Place]]]:
        topics = [
            TopicRequest(name=topic, partition_indexes=partitions)
            for topic, partitions in by_topic(keys).items()
        ]
        request = DescribeProducersRequest(topics=topics)
        yield Ask(Broker(broker_id), DescribeProducersResponse, fixed(request)), keys

    def outcome(
        self, reply: Answered[DescribeProducersResponse, Place]
    ) -> Outcome[Place, tuple[ProducerState, ...]]:
        outcome: Outcome[Place, tuple[ProducerState, ...]] = Outcome()
        for topic in reply.answer.topics:
            for told in topic.partitions:
                place = Place(topic.name, told.partition_index)
                code = ErrorCode.of_peer(told.error_code)
                if code is ErrorCode.NONE:
                    outcome.completed[place] = tuple(map(_state, told.active_producers))
                elif code is ErrorCode.NOT_LEADER_OR_FOLLOWER and self._broker_id is None:
                    outcome.moved.append(place)
                else:
                    may_appear = code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                    kept = outcome.waits if may_appear else outcome.failed
                    kept[place] = _refused(place, told)
        return outcome

    def unsupported(
        self, keys: list[Place], error: UnsupportedVersionError
    ) -> dict[Place, ClientError]:
        return dict.fromkeys(keys, error)


def _state(told: ToldProducer) -> ProducerState:
    started_at = told.current_txn_start_offset
    return ProducerState(
        told.producer_id,
        told.producer_epoch,
        told.last_sequence,
        told.last_timestamp,
        None if told.coordinator_epoch < 0 else told.coordinator_epoch,
        None if started_at < 0 else started_at,
    )


def _refused(place: Place, told: PartitionResponse) -> ClientError:
    return broker_error(told.error_code, told.error_message or f"the producers of {place}")


@dataclass(frozen=True, slots=True)
class AbortTransactionSpec:
    """The hanging transaction, as reported by `DescribeProducers`."""

    partition: TopicPartition
    producer_id: int
    producer_epoch: int
    coordinator_epoch: int


_LEADS_NO_MORE = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.REPLICA_NOT_AVAILABLE,
    ErrorCode.BROKER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)


class AbortTransaction:
    """Writes an abort marker into that one partition, as the coordinator would."""

    name = "abortTransaction"

    def __init__(self, spec: AbortTransactionSpec) -> None:
        self.lookup = Leaders()
        self._spec = spec

    def asks(self, broker_id: int, keys: list[Place]) -> Iterator[tuple[Ask[Message], list[Place]]]:
        spec = self._spec
        marker = WritableTxnMarker(
            producer_id=spec.producer_id,
            producer_epoch=spec.producer_epoch,
            coordinator_epoch=spec.coordinator_epoch,
            transaction_result=False,
            topics=[
                WritableTxnMarkerTopic(
                    name=spec.partition.topic, partition_indexes=[spec.partition.partition]
                )
            ],
        )
        request = WriteTxnMarkersRequest(markers=[marker])
        yield Ask(Broker(broker_id), WriteTxnMarkersResponse, fixed(request)), keys

    def outcome(self, reply: Answered[WriteTxnMarkersResponse, Place]) -> Outcome[Place, None]:
        outcome: Outcome[Place, None] = Outcome()
        (key,) = reply.keys
        told = [
            (marker.producer_id, topic.name, each.partition_index, each.error_code)
            for marker in reply.answer.markers
            for topic in marker.topics
            for each in topic.partitions
        ]
        codes = [code for *what, code in told if what == [self._spec.producer_id, *key]]
        if len(told) != 1 or not codes:
            outcome.failed[key] = MalformedResponseError(
                f"{reply.node} tells of other markers: {told}"
            )
        elif ErrorCode.of_peer(codes[0]) in _LEADS_NO_MORE:
            outcome.moved.append(key)
        elif codes[0] == ErrorCode.NONE:
            outcome.completed[key] = None
        else:
            outcome.failed[key] = broker_error(codes[0], f"the transaction of {self._spec}")
        return outcome

    def unsupported(
        self, keys: list[Place], error: UnsupportedVersionError
    ) -> dict[Place, ClientError]:
        return dict.fromkeys(keys, error)
