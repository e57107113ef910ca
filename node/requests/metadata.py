"""Metadata (3), versions 0-12: brokers, controller, topics and their partitions.

v0 asks for all topics with an empty list and reports missing replicas as errors; since v1 a null
list asks for all. KIP-430 (v8) adds authorised operations, KIP-516 (v10) topic ids; v12 may ask
by id. A topic that is not there is made, if the client and auto.create.topics.enable allow it,
and is answered with an error that makes the client ask again.
"""

from __future__ import annotations

from collections.abc import Iterable

from logquake.node.metadata.cache import NO_LEADER, MetadataCache
from logquake.node.metadata.first_image import FirstImage
from logquake.node.metadata.topic_names import is_internal, is_legal
from logquake.node.requests.authorized_operations import NOT_ASKED, ON_CLUSTER, ON_TOPIC
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.topics.auto_creation import AutoTopicCreation
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from logquake.wire.messages.update_metadata import UpdateMetadataPartitionState
from logquake.wire.uuids import ZERO_UUID

_FIRST_VERSION_BY_ID = 12


class Metadata(Handler[MetadataRequest]):
    key = ApiKey.METADATA
    versions = range(13)

    def __init__(
        self,
        cluster_id: str,
        cache: MetadataCache,
        first_image: FirstImage,
        auto_creation: AutoTopicCreation,
    ) -> None:
        self._cluster_id = cluster_id
        self._cache = cache
        self._first_image = first_image
        self._auto_creation = auto_creation

    def handle(self, request: Request, body: MetadataRequest) -> None:
        self._first_image.wait(lambda: self._answer(request, body), request.close)

    def _answer(self, request: Request, body: MetadataRequest) -> None:
        version = request.header.api_version
        topics = [self._with_operations(body, topic) for topic in self._topics(version, body)]
        controller_id = self._cache.controller_id
        request.reply(
            MetadataResponse(
                brokers=self._brokers(),
                cluster_id=self._cluster_id,
                controller_id=NO_LEADER if controller_id is None else controller_id,
                topics=topics,
                cluster_authorized_operations=ON_CLUSTER
                if body.include_cluster_authorized_operations
                else NOT_ASKED,
            )
        )

    def _brokers(self) -> list[MetadataResponseBroker]:
        return [
            MetadataResponseBroker(
                node_id=broker.broker_id, host=broker.host, port=broker.port, rack=broker.rack
            )
            for broker in self._cache.brokers()
        ]

    def _topics(self, version: int, body: MetadataRequest) -> list[MetadataResponseTopic]:
        if body.topics is None or (version == 0 and not body.topics):
            return [self._known(version, name) for name in self._cache.topics()]
        if error := _misuse(version, body.topics):
            # Only v12 has a null for the name.
            return [_failed(topic.name or "", topic.topic_id, error) for topic in body.topics]
        if any(topic.topic_id != ZERO_UUID for topic in body.topics):
            return [self._by_id(version, topic.topic_id) for topic in _unique_ids(body.topics)]
        names = dict.fromkeys(topic.name for topic in body.topics if topic.name is not None)
        return [
            self._by_name(version, name, create=body.allow_auto_topic_creation) for name in names
        ]

    def _by_id(self, version: int, topic_id: bytes) -> MetadataResponseTopic:
        name = self._cache.topic_name(topic_id)
        if name is None:
            return _failed(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
        return self._known(version, name)

    def _by_name(self, version: int, name: str, *, create: bool) -> MetadataResponseTopic:
        if self._cache.topic(name) is not None:
            return self._known(version, name)
        if not is_legal(name):
            return _failed(name, ZERO_UUID, ErrorCode.INVALID_TOPIC_EXCEPTION)
        if create:
            self._auto_creation.request(name)
        return _failed(name, ZERO_UUID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    def _known(self, version: int, name: str) -> MetadataResponseTopic:
        image = self._cache.topic(name)
        partitions = image.partitions if image else {}
        return MetadataResponseTopic(
            name=name,
            topic_id=image.topic_id if image else ZERO_UUID,
            is_internal=is_internal(name),
            partitions=[
                self._partition(version, partitions[index]) for index in sorted(partitions)
            ],
        )

    def _partition(
        self, version: int, state: UpdateMetadataPartitionState
    ) -> MetadataResponsePartition:
        replicas, isr = list(state.replicas), list(state.isr)
        if version == 0:
            replicas, isr = self._alive(replicas), self._alive(isr)
        return MetadataResponsePartition(
            error_code=self._partition_error(state, replicas, isr),
            partition_index=state.partition_index,
            leader_id=state.leader if self._cache.broker(state.leader) else NO_LEADER,
            leader_epoch=state.leader_epoch,
            replica_nodes=replicas,
            isr_nodes=isr,
            offline_replicas=list(state.offline_replicas),
        )

    def _partition_error(
        self, state: UpdateMetadataPartitionState, replicas: list[int], isr: list[int]
    ) -> ErrorCode:
        if self._cache.broker(state.leader) is None:
            return ErrorCode.LEADER_NOT_AVAILABLE
        if len(replicas) < len(state.replicas) or len(isr) < len(state.isr):
            return ErrorCode.REPLICA_NOT_AVAILABLE
        return ErrorCode.NONE

    def _alive(self, broker_ids: Iterable[int]) -> list[int]:
        return [broker_id for broker_id in broker_ids if self._cache.broker(broker_id)]

    @staticmethod
    def _with_operations(
        body: MetadataRequest, topic: MetadataResponseTopic
    ) -> MetadataResponseTopic:
        if body.include_topic_authorized_operations and topic.name is not None:
            topic.topic_authorized_operations = ON_TOPIC
        return topic


def _misuse(version: int, topics: list[MetadataRequestTopic]) -> ErrorCode | None:
    """Before v12 a topic has a name and no id, although the fields are on the wire since v10."""
    if version >= _FIRST_VERSION_BY_ID:
        return None
    if any(topic.name is None or topic.topic_id != ZERO_UUID for topic in topics):
        return ErrorCode.INVALID_REQUEST
    return None


def _unique_ids(topics: list[MetadataRequestTopic]) -> list[MetadataRequestTopic]:
    by_id = {topic.topic_id: topic for topic in topics if topic.topic_id != ZERO_UUID}
    return list(by_id.values())


def _failed(name: str | None, topic_id: bytes, error: ErrorCode) -> MetadataResponseTopic:
    return MetadataResponseTopic(
        error_code=error,
        name=name,
        topic_id=topic_id,
        is_internal=name is not None and is_internal(name),
    )
