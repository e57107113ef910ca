"""OffsetForLeaderEpoch (23), versions 0-4: where a leader epoch ends in the leader's log.

KIP-101; KIP-279 (v1) also names the largest epoch at or below the one asked for; KIP-320 (v2)
fences by the asker's current leader epoch and lets consumers ask, who need to describe the topic
where a broker needs ClusterAction.
"""

from __future__ import annotations

from collections.abc import Collection

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.replication.manager import ReplicaManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.offsets import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)


class OffsetForLeaderEpoch(Handler[OffsetForLeaderEpochRequest]):
    key = ApiKey.OFFSET_FOR_LEADER_EPOCH
    versions = range(5)

    def __init__(self, replicas: ReplicaManager, authorizer: Authorizer) -> None:
        self._replicas = replicas
        self._authorizer = authorizer

    def handle(self, request: Request, body: OffsetForLeaderEpochRequest) -> None:
        denied = self._denied(request, body)
        request.reply(
            OffsetForLeaderEpochResponse(
                topics=[
                    OffsetForLeaderTopicResult(
                        topic=topic.topic,
                        partitions=[
                            _denied_end(each)
                            if topic.topic in denied
                            else self._end(topic.topic, each)
                            for each in topic.partitions
                        ],
                    )
                    # Kafka tells of what is denied last.
                    for topic in sorted(body.topics, key=lambda topic: topic.topic in denied)
                ]
            )
        )

    def _denied(self, request: Request, body: OffsetForLeaderEpochRequest) -> Collection[str]:
        if self._authorizer.allows_on_cluster(request, AclOperation.CLUSTER_ACTION):
            return ()
        names = (topic.topic for topic in body.topics)
        return self._authorizer.denied(request, AclOperation.DESCRIBE, ResourceType.TOPIC, names)

    def _end(self, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
        end = self._replicas.end_offset_for_epoch(
            topic, asked.partition, asked.current_leader_epoch, asked.leader_epoch
        )
        return EpochEndOffset(
            error_code=end.error,
            partition=asked.partition,
            leader_epoch=end.leader_epoch,
            end_offset=end.end_offset,
        )


def _denied_end(asked: OffsetForLeaderPartition) -> EpochEndOffset:
    return EpochEndOffset(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, partition=asked.partition
    )
