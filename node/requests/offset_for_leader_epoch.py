"""OffsetForLeaderEpoch (23), versions 0-4: where a leader epoch ends in the leader's log.

KIP-101; KIP-279 (v1) also names the largest epoch at or below the one asked for; KIP-320 (v2)
fences by the asker's current leader epoch and lets consumers ask.
"""

from __future__ import annotations

from logquake.node.replication.manager import ReplicaManager
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
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

    def __init__(self, replicas: ReplicaManager) -> None:
        self._replicas = replicas

    def handle(self, request: Request, body: OffsetForLeaderEpochRequest) -> None:
        request.reply(
            OffsetForLeaderEpochResponse(
                topics=[
                    OffsetForLeaderTopicResult(
                        topic=topic.topic,
                        partitions=[self._end(topic.topic, each) for each in topic.partitions],
                    )
                    for topic in body.topics
                ]
            )
        )

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
