"""Metadata (3), versions 0-12: brokers, controller, topics and their partitions.

v0 asks for all topics with an empty list and reports missing replicas as errors; since v1 a null
list asks for all. KIP-430 (v8) adds authorised operations, KIP-516 (v10) topic ids; v12 may ask
by id. A topic that is not there is made, if the client and auto.create.topics.enable allow it: the
answer waits until the controller has said whether it can be, and makes the client ask again if so.
Who asks for all topics is told of those that it may describe, who names others is told that much.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.first_metadata import FirstMetadata
from logquake.node.metadata.lost_leaders import LostLeaders
from logquake.node.metadata.topic_names import is_internal, is_legal
from logquake.node.requests.handler import Handler
from logquake.node.requests.metadata_view import MetadataView
from logquake.node.requests.request import Request
from logquake.node.requests.throttling import created_for
from logquake.node.topics.auto_creation import AutoTopicCreation, Told
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from logquake.wire.sentinels import NO_CONTROLLER
from logquake.wire.uuids import ZERO_UUID

_FIRST_VERSION_BY_ID = 12


class Metadata(Handler[MetadataRequest]):
    key = ApiKey.METADATA
    versions = range(13)

    def __init__(
        self,
        cluster_id: str,
        cache: MetadataCache,
        first_metadata: FirstMetadata,
        lost_leaders: LostLeaders,
        auto_creation: AutoTopicCreation,
        authorizer: Authorizer,
    ) -> None:
        self._cluster_id = cluster_id
        self._cache = cache
        self._first_metadata = first_metadata
        self._lost_leaders = lost_leaders
        self._auto_creation = auto_creation
        self._authorizer = authorizer

    def handle(self, request: Request, body: MetadataRequest) -> None:
        topics = body.topics or []
        if error := _misuse(request.header.api_version, topics):
            # Only v12 has a null for the name.
            failed = [_failed(topic.name or "", topic.topic_id, error) for topic in topics]
            request.reply(MetadataResponse(topics=failed))
            return
        self._first_metadata.wait(lambda: self._wait_for_leaders(request, body), request.close)

    def _wait_for_leaders(self, request: Request, body: MetadataRequest) -> None:
        asked = self._asked(request.header.api_version, body)
        self._lost_leaders.wait(asked, lambda: self._make_then_answer(request, body))

    def _asked(self, version: int, body: MetadataRequest) -> Iterator[str]:
        """The names of the topics that it asks for, as far as they are known."""
        if _asks_for_all(version, body):
            yield from (name for name, _ in self._cache.images())
            return
        for topic in body.topics or ():
            for name in (topic.name, self._cache.topic_name(topic.topic_id)):
                if name is not None:
                    yield name

    def _make_then_answer(self, request: Request, body: MetadataRequest) -> None:
        version = request.header.api_version
        asked = self._asked(version, body)
        denied = self._authorizer.denied(request, AclOperation.DESCRIBE, ResourceType.TOPIC, asked)
        missing = self._missing(body, denied)
        beyond = self._not_to_be_made(request, missing)
        told = dict.fromkeys(beyond, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        made = [name for name in missing if name not in beyond and is_legal(name)]

        def answer(outcome: Told) -> None:
            self._answer(request, body, denied, {**told, **outcome})

        if made:
            self._auto_creation.create(made, answer, created_for(request))
        else:
            answer({})

    def _not_to_be_made(self, request: Request, missing: list[str]) -> Collection[str]:
        """Those that the asker may not create."""
        if not missing or self._authorizer.allows_on_cluster(request, AclOperation.CREATE):
            return ()
        return self._authorizer.denied(request, AclOperation.CREATE, ResourceType.TOPIC, missing)

    def _missing(self, body: MetadataRequest, denied: Collection[str]) -> list[str]:
        """What the client and the settings would have made."""
        if not (self._auto_creation.is_for_clients and body.allow_auto_topic_creation):
            return []
        if not body.topics or _asks_by_id(body.topics):
            return []
        return [
            name
            for name in _unique_names(body.topics)
            if self._cache.topic(name) is None and name not in denied
        ]

    def _answer(
        self, request: Request, body: MetadataRequest, denied: Collection[str], told: Told
    ) -> None:
        """``told`` is for topics that had to be made."""
        view = MetadataView(self._cache, request.listener, request.header.api_version)
        controller_id = self._cache.controller_id
        answer = MetadataResponse(
            brokers=view.brokers(),
            cluster_id=self._cluster_id,
            controller_id=NO_CONTROLLER if controller_id is None else controller_id,
            topics=self._topics(view, body, denied, told),
        )
        self._add_operations(request, body, answer)
        request.reply(answer)

    def _topics(
        self, view: MetadataView, body: MetadataRequest, denied: Collection[str], told: Told
    ) -> list[MetadataResponseTopic]:
        if body.topics is None or _asks_for_all(view.version, body):
            images = self._cache.images()
            return [view.topic(name, image) for name, image in images if name not in denied]
        if _asks_by_id(body.topics):
            return [self._by_id(view, each.topic_id, denied) for each in _unique_ids(body.topics)]
        return [
            _denied(name, ZERO_UUID) if name in denied else self._by_name(view, name, told)
            for name in _unique_names(body.topics)
        ]

    def _by_id(
        self, view: MetadataView, topic_id: bytes, denied: Collection[str]
    ) -> MetadataResponseTopic:
        name = self._cache.topic_name(topic_id)
        image = None if name is None else self._cache.topic(name)
        if name is None or image is None:
            return _failed(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
        if name in denied:
            return _denied(None, topic_id)
        return view.topic(name, image)

    def _by_name(self, view: MetadataView, name: str, told: Told) -> MetadataResponseTopic:
        if name in told:
            return _failed(name, ZERO_UUID, told[name])
        image = self._cache.topic(name)
        if image is not None:
            return view.topic(name, image)
        error = (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            if is_legal(name)
            else ErrorCode.INVALID_TOPIC_EXCEPTION
        )
        return _failed(name, ZERO_UUID, error)

    def _add_operations(
        self, request: Request, body: MetadataRequest, answer: MetadataResponse
    ) -> None:
        """What the asker may do, where it wants to know (KIP-430)."""
        authorizer = self._authorizer
        if body.include_cluster_authorized_operations:
            answer.cluster_authorized_operations = authorizer.operations_on_cluster(request)
        if not body.include_topic_authorized_operations:
            return
        for topic in answer.topics:
            if topic.name is not None and topic.error_code != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                topic.topic_authorized_operations = authorizer.operations(
                    request, ResourceType.TOPIC, topic.name
                )


def _asks_for_all(version: int, body: MetadataRequest) -> bool:
    return body.topics is None or (version == 0 and not body.topics)


def _misuse(version: int, topics: list[MetadataRequestTopic]) -> ErrorCode | None:
    """Before v12 a topic has a name and no id, although the fields are on the wire since v10."""
    if version >= _FIRST_VERSION_BY_ID:
        return None
    if any(topic.name is None or topic.topic_id != ZERO_UUID for topic in topics):
        return ErrorCode.INVALID_REQUEST
    return None


def _asks_by_id(topics: list[MetadataRequestTopic]) -> bool:
    return any(topic.topic_id != ZERO_UUID for topic in topics)


def _unique_names(topics: list[MetadataRequestTopic]) -> list[str]:
    return list(dict.fromkeys(topic.name for topic in topics if topic.name is not None))


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


def _denied(name: str | None, topic_id: bytes) -> MetadataResponseTopic:
    """Whether there is such a topic, and what kind, is not disclosed; its id may be known."""
    return MetadataResponseTopic(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name, topic_id=topic_id
    )
