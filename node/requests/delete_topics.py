"""DeleteTopics (20), versions 0-6: topics to go, by name or, since v6 (KIP-516), by id.

The controller marks the topics in ZooKeeper and deletes them step by step; the answer waits, up
to the request's own time-out, until they are gone from the metadata of this broker.
Who deletes too fast is refused (KIP-599, v5), or has to wait.
Of a topic that was named by its id, who may not describe it is not told the name.
"""

from __future__ import annotations

from logquake.controller.controller import Controller
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.requests.throttling import mutations_of
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from logquake.wire.uuids import ZERO_UUID

_FIRST_VERSION_WITH_DISABLED = 3
_FIRST_STRICT_VERSION = 5


class DeleteTopics(Handler[DeleteTopicsRequest]):
    key = ApiKey.DELETE_TOPICS
    versions = range(7)

    def __init__(
        self,
        controller: Controller,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        authorizer: Authorizer,
        *,
        is_enabled: bool,
    ) -> None:
        """is_enabled: delete.topic.enable. Else the controller says so, whoever asks."""
        self._controller = controller
        self._cache = cache
        self._waiters = waiters
        self._authorizer = authorizer
        self._is_enabled = is_enabled

    def handle(self, request: Request, body: DeleteTopicsRequest) -> None:
        wanted = _wanted(body)
        denials = [self._denial(request, each) for each in wanted]
        allowed = [each for each, denial in zip(wanted, denials, strict=True) if denial is None]
        gone = self._gone(allowed) if self._controller.is_active else set()

        def marked(response: DeleteTopicsResponse) -> None:
            _say_for_version(request.header.api_version, response)
            response.responses += [
                DeletableTopicResult(name=name, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for name in sorted(gone)
            ]
            response.responses += [denial for denial in denials if denial is not None]
            self._wait_until_gone(request, response, body.timeout_ms)

        there = [each for each in allowed if each.name not in gone]
        asked = DeleteTopicsRequest(topics=there, timeout_ms=body.timeout_ms)
        self._controller.delete_topics(asked, marked, mutations_of(request, _FIRST_STRICT_VERSION))

    def _denial(self, request: Request, topic: DeleteTopicState) -> DeletableTopicResult | None:
        """None also for what the controller refuses, whoever asks."""
        if not (self._controller.is_active and self._is_enabled):
            return None
        by_id = topic.topic_id != ZERO_UUID
        name = self._controller.topic_name(topic.topic_id) if by_id else topic.name
        if name is None or (by_id and topic.name is not None):
            return None
        denied = DeletableTopicResult(
            name=name, topic_id=topic.topic_id, error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED
        )
        if by_id and not self._allows(request, AclOperation.DESCRIBE, name):
            denied.name = None
            return denied
        return None if self._allows(request, AclOperation.DELETE, name) else denied

    def _allows(self, request: Request, operation: AclOperation, topic: str) -> bool:
        return self._authorizer.allows(request, operation, ResourceType.TOPIC, topic)

    def _gone(self, topics: list[DeleteTopicState]) -> set[str]:
        """What clients are not told of any more, although the controller may still be at it."""
        named = [topic.name for topic in topics if topic.topic_id == ZERO_UUID]
        return {name for name in named if name is not None and self._cache.topic(name) is None}

    def _wait_until_gone(
        self, request: Request, response: DeleteTopicsResponse, timeout_ms: int
    ) -> None:
        going = [topic for topic in response.responses if topic.error_code == ErrorCode.NONE]

        def all_gone() -> bool:
            return all(self._is_gone(topic) for topic in going)

        def finish() -> None:
            for topic in going:
                if not self._is_gone(topic) or timeout_ms <= 0:
                    topic.error_code = ErrorCode.REQUEST_TIMED_OUT
            request.reply(response)

        self._waiters.wait(all_gone, timeout_ms, finish)

    def _is_gone(self, topic: DeletableTopicResult) -> bool:
        return topic.name is None or self._cache.topic(topic.name) is None


def _wanted(body: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """Before version 6 topics have names alone."""
    return [*(DeleteTopicState(name=name) for name in body.topic_names), *body.topics]


def _say_for_version(version: int, response: DeleteTopicsResponse) -> None:
    if version < _FIRST_VERSION_WITH_DISABLED:
        for topic in response.responses:
            if topic.error_code == ErrorCode.TOPIC_DELETION_DISABLED:
                topic.error_code = ErrorCode.INVALID_REQUEST
