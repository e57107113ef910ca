"""OffsetFetch (9), versions 0-9: how far groups have come.

v0 reads from ZooKeeper, v1 from the group's coordinator. v2 asks for all partitions with null, v5
answers leader epochs (KIP-320), v7 can wait for what transactions still decide (require_stable,
KIP-447), v8 asks for several groups (KIP-709), v9 names the member of a KIP-848 group, which is of
no meaning to a classic one. From v1 on partitions that there are not are answered as those without
a commit. Of a topic that the asker may not describe nothing is told, and that only where it was
named.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.coordinators.groups.offset_manager import FetchedOffset, OffsetManager
from logquake.node.coordinators.groups.offsets.committed import OffsetAndMetadata
from logquake.node.metadata.cache import MetadataCache
from logquake.node.requests.handler import Handler
from logquake.node.requests.known_partitions import by_topic
from logquake.node.requests.request import Request
from logquake.node.requests.zookeeper_offsets import Found, ZooKeeperOffsets
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.group_offsets import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from logquake.wire.sentinels import NO_LEADER_EPOCH, UNKNOWN_OFFSET
from logquake.wire.topic_partition import TopicPartition

_FIRST_VERSION_WITH_GROUPS = 8

_Asked = Sequence[OffsetFetchRequestTopic] | Sequence[OffsetFetchRequestTopics] | None
_Fetched = list[tuple[str, list[tuple[int, FetchedOffset]]]]


class OffsetFetch(Handler[OffsetFetchRequest]):
    key = ApiKey.OFFSET_FETCH
    versions = range(10)

    def __init__(
        self,
        offsets: OffsetManager,
        in_zookeeper: ZooKeeperOffsets,
        cache: MetadataCache,
        authorizer: Authorizer,
    ) -> None:
        self._offsets = offsets
        self._in_zookeeper = in_zookeeper
        self._cache = cache
        self._authorizer = authorizer

    def handle(self, request: Request, body: OffsetFetchRequest) -> None:
        if request.header.api_version == 0:
            self._read_zookeeper(request, body)
        elif request.header.api_version >= _FIRST_VERSION_WITH_GROUPS:
            groups = [self._group(request, group, body.require_stable) for group in body.groups]
            request.reply(OffsetFetchResponse(groups=groups))
        else:
            request.reply(self._single(request, body))

    def _group(
        self, request: Request, asked: OffsetFetchRequestGroup, require_stable: bool
    ) -> OffsetFetchResponseGroup:
        error, topics = self._fetch(request, asked.group_id, asked.topics, require_stable)
        return OffsetFetchResponseGroup(
            group_id=asked.group_id,
            error_code=error,
            topics=[
                OffsetFetchResponseTopics(
                    name=topic,
                    partitions=[
                        OffsetFetchResponsePartitions(
                            partition_index=index,
                            committed_offset=_offset(found),
                            committed_leader_epoch=_leader_epoch(found),
                            metadata=_metadata(found),
                            error_code=found.error,
                        )
                        for index, found in partitions
                    ],
                )
                for topic, partitions in topics
            ],
        )

    def _single(self, request: Request, body: OffsetFetchRequest) -> OffsetFetchResponse:
        """v1 has no room for the group's error: as from Kafka, the answer is empty then."""
        error, topics = self._fetch(request, body.group_id, body.topics, body.require_stable)
        return OffsetFetchResponse(error_code=error, topics=_response_topics(topics))

    def _read_zookeeper(self, request: Request, body: OffsetFetchRequest) -> None:
        asked = _partitions(body.topics) or []
        describe = AclOperation.DESCRIBE
        if not self._authorizer.allows(request, describe, ResourceType.GROUP, body.group_id):
            refused = dict.fromkeys(asked, FetchedOffset(ErrorCode.GROUP_AUTHORIZATION_FAILED))
            request.reply(OffsetFetchResponse(topics=_response_topics(by_topic(refused))))
            return
        denied = self._denied(request, asked)
        missing = {each: _missing(each, denied) for each in asked}
        known = [
            each
            for each in asked
            if each.topic not in denied and self._cache.partition(*each) is not None
        ]

        def done(offsets: dict[TopicPartition, Found]) -> None:
            found = {each: _of_zookeeper(offset) for each, offset in offsets.items()}
            topics = by_topic({each: found.get(each, missing[each]) for each in asked})
            request.reply(OffsetFetchResponse(topics=_response_topics(topics)))

        self._in_zookeeper.fetch(body.group_id, known, done)

    def _fetch(
        self, request: Request, group_id: str, asked: _Asked, require_stable: bool
    ) -> tuple[ErrorCode, _Fetched]:
        describe = AclOperation.DESCRIBE
        if not self._authorizer.allows(request, describe, ResourceType.GROUP, group_id):
            return ErrorCode.GROUP_AUTHORIZATION_FAILED, []
        partitions = _partitions(asked)
        denied = self._denied(request, partitions or ())
        allowed = partitions and [each for each in partitions if each.topic not in denied]
        fetched = self._offsets.fetch(group_id, allowed, require_stable=require_stable)
        if isinstance(fetched, ErrorCode):
            return fetched, []
        if partitions is None:
            hidden = self._denied(request, fetched)
            return ErrorCode.NONE, by_topic(
                {each: found for each, found in fetched.items() if each.topic not in hidden}
            )
        refused = FetchedOffset(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        unseen = {each: refused for each in partitions if each.topic in denied}
        return ErrorCode.NONE, by_topic({**fetched, **unseen})

    def _denied(self, request: Request, partitions: Iterable[TopicPartition]) -> Collection[str]:
        names = (each.topic for each in partitions)
        return self._authorizer.denied(request, AclOperation.DESCRIBE, ResourceType.TOPIC, names)


def _partitions(asked: _Asked) -> list[TopicPartition] | None:
    """None stands for all."""
    if asked is None:
        return None
    return [TopicPartition(topic.name, i) for topic in asked for i in topic.partition_indexes]


def _missing(partition: TopicPartition, denied: Collection[str]) -> FetchedOffset:
    if partition.topic in denied:
        return FetchedOffset(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return FetchedOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _of_zookeeper(found: Found) -> FetchedOffset:
    if isinstance(found, ErrorCode):
        return FetchedOffset(found)
    return FetchedOffset(ErrorCode.NONE, OffsetAndMetadata(found))


def _response_topics(topics: _Fetched) -> list[OffsetFetchResponseTopic]:
    """Before v8."""
    return [
        OffsetFetchResponseTopic(
            name=topic,
            partitions=[
                OffsetFetchResponsePartition(
                    partition_index=index,
                    committed_offset=_offset(found),
                    committed_leader_epoch=_leader_epoch(found),
                    metadata=_metadata(found),
                    error_code=found.error,
                )
                for index, found in partitions
            ],
        )
        for topic, partitions in topics
    ]


def _offset(found: FetchedOffset) -> int:
    return UNKNOWN_OFFSET if found.value is None else found.value.offset


def _leader_epoch(found: FetchedOffset) -> int:
    return NO_LEADER_EPOCH if found.value is None else found.value.leader_epoch


def _metadata(found: FetchedOffset) -> str:
    return "" if found.value is None else found.value.metadata
