"""WriteTxnMarkers (27), versions 0-1: the ends of transactions, for leaders to append (KIP-98).

A transaction's coordinator sends them, and kafka-transactions for one that hangs (KIP-664). Each
marker is an append of its own with acks=all; the answer comes when the last of them is decided.
Whose offsets of a transaction lie in __consumer_offsets is told when its marker is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.values import ProduceEntry, ProduceResult
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.seams.scheduler import Scheduler
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_commit import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from logquake.wire.records import ControlType, encode_end_marker
from logquake.wire.sentinels import ACKS_ALL, NO_PRODUCER_EPOCH, NO_PRODUCER_ID
from logquake.wire.topic_partition import TopicPartition

Errors = Mapping[TopicPartition, ErrorCode]


class PendingOffsets(Protocol):
    """Offsets that groups committed within transactions (GroupCoordinator)."""

    def on_transaction_completed(
        self, producer_id: int, partitions: Sequence[int], *, committed: bool
    ) -> None:
        """The producer's marker is in these partitions of __consumer_offsets, and replicated."""


class WriteTxnMarkers(Handler[WriteTxnMarkersRequest]):
    key = ApiKey.WRITE_TXN_MARKERS
    versions = range(2)

    def __init__(
        self,
        replicas: ReplicaManager,
        pending_offsets: PendingOffsets,
        scheduler: Scheduler,
        *,
        timeout_ms: int,
    ) -> None:
        self._replicas = replicas
        self._pending_offsets = pending_offsets
        self._scheduler = scheduler
        self._timeout_ms = timeout_ms

    def handle(self, request: Request, body: WriteTxnMarkersRequest) -> None:
        answer = _Answer(request, body.markers)
        if not all(_has_producer(marker) for marker in body.markers):
            for marker in body.markers:
                refused = dict.fromkeys(_partitions(marker), ErrorCode.UNKNOWN_SERVER_ERROR)
                answer.settle(marker.producer_id, refused)
            return
        for marker in body.markers:
            self._append(marker, answer)

    def _append(self, marker: WritableTxnMarker, answer: _Answer) -> None:
        unknown: dict[TopicPartition, ErrorCode] = {}
        entries: list[ProduceEntry] = []
        for partition in _partitions(marker):
            if self._replicas.is_online(*partition):
                entries.append(ProduceEntry(*partition, self._encode(marker)))
            else:
                unknown[partition] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

        def done(results: list[ProduceResult]) -> None:
            errors = {TopicPartition(each.topic, each.partition): each.error for each in results}
            self._complete_offsets(marker, errors)
            answer.settle(marker.producer_id, unknown | errors)

        if entries:
            self._replicas.appends.add(entries, ACKS_ALL, self._timeout_ms, done, internal=True)
        else:
            answer.settle(marker.producer_id, unknown)

    def _encode(self, marker: WritableTxnMarker) -> memoryview:
        return memoryview(
            encode_end_marker(
                ControlType.COMMIT if marker.transaction_result else ControlType.ABORT,
                coordinator_epoch=marker.coordinator_epoch,
                producer_id=marker.producer_id,
                producer_epoch=marker.producer_epoch,
                timestamp_ms=self._scheduler.wall_ms(),
            )
        )

    def _complete_offsets(self, marker: WritableTxnMarker, errors: Errors) -> None:
        written = [
            index
            for (topic, index), error in errors.items()
            if topic == GROUP_METADATA_TOPIC and error is ErrorCode.NONE
        ]
        if written:
            self._pending_offsets.on_transaction_completed(
                marker.producer_id, written, committed=marker.transaction_result
            )


class _Answer:
    """To one request: what became of its markers, by producer id and partition.

    A producer of which no partition is named is left out.
    """

    def __init__(self, request: Request, markers: Sequence[WritableTxnMarker]) -> None:
        self._request = request
        self._open = len(markers)
        self._errors: dict[int, dict[TopicPartition, ErrorCode]] = {
            marker.producer_id: {} for marker in markers
        }
        if not markers:
            self._reply()

    def settle(self, producer_id: int, errors: Errors) -> None:
        """One marker is decided; the last one answers the request."""
        self._errors[producer_id].update(errors)
        self._open -= 1
        if self._open == 0:
            self._reply()

    def _reply(self) -> None:
        self._request.reply(
            WriteTxnMarkersResponse(
                markers=[
                    WritableTxnMarkerResult(producer_id=producer_id, topics=_by_topic(errors))
                    for producer_id, errors in self._errors.items()
                    if errors
                ]
            )
        )


def _has_producer(marker: WritableTxnMarker) -> bool:
    """Without one no batch can be made (MemoryRecordsBuilder)."""
    return marker.producer_id != NO_PRODUCER_ID and marker.producer_epoch != NO_PRODUCER_EPOCH


def _partitions(marker: WritableTxnMarker) -> list[TopicPartition]:
    """Each once, in the request's order."""
    named = [
        TopicPartition(topic.name, index)
        for topic in marker.topics
        for index in topic.partition_indexes
    ]
    return list(dict.fromkeys(named))


def _by_topic(errors: Errors) -> list[WritableTxnMarkerTopicResult]:
    topics: dict[str, WritableTxnMarkerTopicResult] = {}
    for (name, index), error in sorted(errors.items()):
        topic = topics.setdefault(name, WritableTxnMarkerTopicResult(name=name, partitions=[]))
        topic.partitions.append(
            WritableTxnMarkerPartitionResult(partition_index=index, error_code=error)
        )
    return list(topics.values())
