"""ListOffsets (2), versions 0-9: the earliest, the latest, or the first offset from a time on.

v0 answers with the starts of segments, by the time of their files; v1 (KIP-79) with one offset and
its timestamp; v2 knows isolation levels, v4 leader epochs (KIP-320), v7 the largest timestamp
(KIP-734), v8-9 tiered storage's own (KIP-405, KIP-1005), of which there is none here: the local log
is the whole log.
"""

from __future__ import annotations

from collections import Counter

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.values import Isolation, ListedOffset
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from logquake.wire.sentinels import (
    CONSUMER_REPLICA_ID,
    DEBUGGING_REPLICA_ID,
    EARLIEST_LOCAL_TIMESTAMP,
    EARLIEST_TIMESTAMP,
    LATEST_TIERED_TIMESTAMP,
    LATEST_TIMESTAMP,
    MAX_TIMESTAMP,
)

_SINCE_VERSION = {
    LATEST_TIMESTAMP: 0,
    EARLIEST_TIMESTAMP: 0,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL_TIMESTAMP: 8,
    LATEST_TIERED_TIMESTAMP: 9,
}
_FIRST_VERSION_WITH_EPOCHS = 4


class ListOffsets(Handler[ListOffsetsRequest]):
    key = ApiKey.LIST_OFFSETS
    versions = range(10)

    def __init__(self, replicas: ReplicaManager, authorizer: Authorizer) -> None:
        self._replicas = replicas
        self._authorizer = authorizer

    def handle(self, request: Request, body: ListOffsetsRequest) -> None:
        version = request.header.api_version
        times = Counter(
            (topic.name, each.partition_index) for topic in body.topics for each in topic.partitions
        )

        names = (topic.name for topic in body.topics)
        denied = self._authorizer.denied(request, AclOperation.DESCRIBE, ResourceType.TOPIC, names)

        def answer(topic: str, asked: ListOffsetsPartition) -> ListOffsetsPartitionResponse:
            if topic in denied:
                return _failed(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            if version > 0 and times[topic, asked.partition_index] > 1:
                return _failed(asked, ErrorCode.INVALID_REQUEST)
            if asked.timestamp < 0 and version < _SINCE_VERSION.get(asked.timestamp, version + 1):
                return _failed(asked, ErrorCode.UNSUPPORTED_VERSION)
            if version == 0:
                return self._offsets_before(body, topic, asked)
            return self._offset(version, body, topic, asked)

        request.reply(
            ListOffsetsResponse(
                topics=[
                    ListOffsetsTopicResponse(
                        name=topic.name,
                        partitions=[answer(topic.name, each) for each in topic.partitions],
                    )
                    # Kafka tells of what is denied last.
                    for topic in sorted(body.topics, key=lambda topic: topic.name in denied)
                ]
            )
        )

    def _offsets_before(
        self, body: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
    ) -> ListOffsetsPartitionResponse:
        found = self._replicas.offsets_before(
            topic,
            asked.partition_index,
            asked.timestamp,
            asked.max_num_offsets,
            isolation=_isolation(body),
            only_leader=body.replica_id != DEBUGGING_REPLICA_ID,
        )
        if isinstance(found, ErrorCode):
            return _failed(asked, found)
        return ListOffsetsPartitionResponse(
            partition_index=asked.partition_index, old_style_offsets=found
        )

    def _offset(
        self, version: int, body: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
    ) -> ListOffsetsPartitionResponse:
        found = self._replicas.list_offset(
            topic,
            asked.partition_index,
            asked.timestamp,
            isolation=_isolation(body),
            current_leader_epoch=asked.current_leader_epoch,
            only_leader=body.replica_id != DEBUGGING_REPLICA_ID,
        )
        if found.error != ErrorCode.NONE:
            return _failed(asked, _for_version(version, found.error))
        return _found(version, asked, found)


def _isolation(body: ListOffsetsRequest) -> Isolation:
    if body.replica_id != CONSUMER_REPLICA_ID:
        return Isolation.LOG_END
    return Isolation.TXN_COMMITTED if body.isolation_level == 1 else Isolation.HIGH_WATERMARK


def _found(
    version: int, asked: ListOffsetsPartition, found: ListedOffset
) -> ListOffsetsPartitionResponse:
    response = ListOffsetsPartitionResponse(partition_index=asked.partition_index)
    response.timestamp, response.offset = found.timestamp_ms, found.offset
    if version >= _FIRST_VERSION_WITH_EPOCHS:
        response.leader_epoch = found.leader_epoch
    return response


def _for_version(version: int, error: ErrorCode) -> ErrorCode:
    """OFFSET_NOT_AVAILABLE came with v5 (KIP-207)."""
    if error == ErrorCode.OFFSET_NOT_AVAILABLE and version < 5:
        return ErrorCode.LEADER_NOT_AVAILABLE
    return error


def _failed(asked: ListOffsetsPartition, error: ErrorCode) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=asked.partition_index, error_code=error)
