"""OffsetCommit (8), versions 0-9: how far a group has come.

v0 writes to ZooKeeper, v1 to the group's coordinator, with the time of the commit. v2-4 bring a
retention time of its own, v6 leader epochs (KIP-320), v7 static members (KIP-345). The answer waits
until the commit is replicated.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.group import Committer
from logquake.node.coordinators.groups.offset_manager import OffsetManager
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.metadata.cache import MetadataCache
from logquake.node.requests.handler import Handler
from logquake.node.requests.known_partitions import by_topic, sort_out
from logquake.node.requests.request import Request
from logquake.node.requests.zookeeper_offsets import ZooKeeperOffsets
from logquake.seams.scheduler import Scheduler
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from logquake.wire.sentinels import NO_TIMESTAMP
from logquake.wire.topic_partition import TopicPartition

_NO_RETENTION_TIME = -1  # OffsetCommitRequest.DEFAULT_RETENTION_TIME


class OffsetCommit(Handler[OffsetCommitRequest]):
    key = ApiKey.OFFSET_COMMIT
    versions = range(10)

    def __init__(
        self,
        offsets: OffsetManager,
        in_zookeeper: ZooKeeperOffsets,
        cache: MetadataCache,
        scheduler: Scheduler,
        authorizer: Authorizer,
    ) -> None:
        self._offsets = offsets
        self._in_zookeeper = in_zookeeper
        self._authorizer = authorizer
        self._cache = cache
        self._scheduler = scheduler

    def handle(self, request: Request, body: OffsetCommitRequest) -> None:
        names = (topic.name for topic in body.topics)
        denied = self._authorizer.denied(request, AclOperation.READ, ResourceType.TOPIC, names)
        known, unknown = sort_out(body.topics, self._cache, denied)
        if not known:
            request.reply(_response(unknown))
            return
        now_ms = self._scheduler.wall_ms()
        offsets = {
            partition: _offset(each, body.retention_time_ms, now_ms)
            for partition, each in known.items()
        }

        def done(errors: Mapping[TopicPartition, ErrorCode]) -> None:
            request.reply(_response(unknown | {**errors}))

        if request.header.api_version == 0:
            self._in_zookeeper.commit(body.group_id, offsets, done)
            return
        who = Committer(body.member_id, body.group_instance_id, body.generation_id_or_member_epoch)
        self._offsets.commit(body.group_id, who, offsets, done)


def _offset(
    asked: OffsetCommitRequestPartition, retention_ms: int, now_ms: int
) -> OffsetAndMetadata:
    return OffsetAndMetadata(
        asked.committed_offset,
        asked.committed_leader_epoch,
        asked.committed_metadata or "",
        now_ms if asked.commit_timestamp == NO_TIMESTAMP else asked.commit_timestamp,
        None if retention_ms == _NO_RETENTION_TIME else _expire_ms(now_ms + retention_ms),
    )


def _expire_ms(time_ms: int) -> int:
    """As Java adds longs: what a client asks may overflow, and then lies long ago."""
    return (time_ms + 2**63) % 2**64 - 2**63


def _response(errors: Mapping[TopicPartition, ErrorCode]) -> OffsetCommitResponse:
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=topic,
                partitions=[
                    OffsetCommitResponsePartition(partition_index=index, error_code=error)
                    for index, error in partitions
                ],
            )
            for topic, partitions in by_topic(errors)
        ]
    )
