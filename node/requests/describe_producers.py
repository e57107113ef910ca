"""DescribeProducers (61), version 0: the producers that a partition knows of (KIP-664).

Leaders and followers answer alike, each from its own log. kafka-transactions finds by it which
transactions are open, and since when.
"""

from __future__ import annotations

from logquake.controller.rules.topic_rules import TopicRefused, check_name
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.manager import ReplicaManager
from logquake.node.replication.partition.roles import Offline
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.storage.producers.entry import ProducerEntry
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.transaction_admin import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicRequest,
    TopicResponse,
)

_UNKNOWN_TOPIC = "This server does not host this topic-partition."


class DescribeProducers(Handler[DescribeProducersRequest]):
    key = ApiKey.DESCRIBE_PRODUCERS
    versions = range(1)

    def __init__(
        self, replicas: ReplicaManager, cache: MetadataCache, authorizer: Authorizer
    ) -> None:
        self._replicas = replicas
        self._cache = cache
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeProducersRequest) -> None:
        request.reply(
            DescribeProducersResponse(
                topics=[self._describe(request, topic) for topic in body.topics]
            )
        )

    def _describe(self, request: Request, topic: TopicRequest) -> TopicResponse:
        error, message = self._refusal(request, topic.name)
        partitions = [
            PartitionResponse(
                partition_index=index, error_code=error, error_message=message, active_producers=[]
            )
            if error
            else self._describe_partition(topic.name, index)
            for index in topic.partition_indexes
        ]
        return TopicResponse(name=topic.name, partitions=partitions)

    def _refusal(self, request: Request, topic: str) -> tuple[ErrorCode, str | None]:
        try:
            check_name(topic)
        except TopicRefused as refused:
            return refused.code, refused.message
        if not self._authorizer.allows(request, AclOperation.READ, ResourceType.TOPIC, topic):
            return ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed."
        if self._cache.topic(topic) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN_TOPIC
        return ErrorCode.NONE, None

    def _describe_partition(self, topic: str, index: int) -> PartitionResponse:
        answer = PartitionResponse(partition_index=index, active_producers=[])
        partition = self._replicas.locate(topic, index)
        if isinstance(partition, ErrorCode):
            answer.error_code = partition
        elif isinstance(partition.role, Offline):
            answer.error_code = ErrorCode.KAFKA_STORAGE_ERROR
        else:
            producers = partition.replica.log.producers
            answer.active_producers = [_state(entry) for entry in producers.entries()]
        return answer


def _state(entry: ProducerEntry) -> ProducerState:
    return ProducerState(
        producer_id=entry.producer_id,
        producer_epoch=entry.epoch,
        last_sequence=entry.last_sequence,
        last_timestamp=entry.last_timestamp,
        coordinator_epoch=entry.coordinator_epoch,
        current_txn_start_offset=entry.current_txn_first_offset,
    )
