"""DeleteRecords (21), versions 0-2: give up the records of a partition before an offset (KIP-107).

Offset -1 stands for the high watermark. The answer waits, up to the request's own time-out, until
every live replica's log starts there.
"""

from __future__ import annotations

from collections.abc import Collection

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.topic_names import is_internal
from logquake.node.replication.purgatories.delayed_delete_records import DeleteRecordsPurgatory
from logquake.node.replication.values import DeletedRecords
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from logquake.wire.topic_partition import TopicPartition

Results = dict[TopicPartition, DeletedRecords]


class DeleteRecords(Handler[DeleteRecordsRequest]):
    key = ApiKey.DELETE_RECORDS
    versions = range(3)

    def __init__(
        self, deletions: DeleteRecordsPurgatory, cache: MetadataCache, authorizer: Authorizer
    ) -> None:
        self._deletions = deletions
        self._cache = cache
        self._authorizer = authorizer

    def handle(self, request: Request, body: DeleteRecordsRequest) -> None:
        # Of a partition that is named twice the last mention counts, as in Kafka.
        asked = {
            TopicPartition(topic.name, each.partition_index): each.offset
            for topic in body.topics
            for each in topic.partitions
        }
        names = (topic.name for topic in body.topics)
        denied = self._authorizer.denied(request, AclOperation.DELETE, ResourceType.TOPIC, names)
        refused = {
            key: DeletedRecords(error) for key in asked if (error := self._refusal(*key, denied))
        }
        wanted = [(*key, offset) for key, offset in asked.items() if key not in refused]

        def done(results: list[DeletedRecords]) -> None:
            found = dict(zip((key for key in asked if key not in refused), results, strict=True))
            request.reply(_response({key: (refused | found)[key] for key in asked}))

        self._deletions.delete(wanted, max(0, body.timeout_ms), done)

    def _refusal(self, topic: str, partition: int, denied: Collection[str]) -> ErrorCode:
        if topic in denied:
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED
        if self._cache.partition(topic, partition) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return ErrorCode.INVALID_TOPIC_EXCEPTION if is_internal(topic) else ErrorCode.NONE


def _response(results: Results) -> DeleteRecordsResponse:
    topics: dict[str, DeleteRecordsTopicResult] = {}
    for (name, index), result in results.items():
        topic = topics.setdefault(name, DeleteRecordsTopicResult(name=name, partitions=[]))
        topic.partitions.append(
            DeleteRecordsPartitionResult(
                partition_index=index,
                low_watermark=result.low_watermark,
                error_code=result.error,
            )
        )
    return DeleteRecordsResponse(topics=list(topics.values()))
