"""DeleteTopics (20), versions 0-6: topics to go, by name or, since v6 (KIP-516), by id.

The controller marks the topics in ZooKeeper and deletes them step by step; the answer waits, up
to the request's own time-out, until they are gone from the metadata of this broker.
"""

from __future__ import annotations

from collections.abc import Collection

from logquake.controller.controller import Controller
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from logquake.wire.uuids import ZERO_UUID

_FIRST_VERSION_WITH_DISABLED = 3


class DeleteTopics(Handler[DeleteTopicsRequest]):
    key = ApiKey.DELETE_TOPICS
    versions = range(7)

    def __init__(
        self, controller: Controller, cache: MetadataCache, waiters: MetadataWaiters
    ) -> None:
        self._controller = controller
        self._cache = cache
        self._waiters = waiters

    def handle(self, request: Request, body: DeleteTopicsRequest) -> None:
        gone = self._gone(body) if self._controller.is_active else set()

        def marked(response: DeleteTopicsResponse) -> None:
            _say_for_version(request.header.api_version, response)
            response.responses += [
                DeletableTopicResult(name=name, error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                for name in sorted(gone)
            ]
            self._wait_until_gone(request, response, body.timeout_ms)

        self._controller.delete_topics(_without(body, gone), marked)

    def _gone(self, body: DeleteTopicsRequest) -> set[str]:
        """What clients are not told of any more, although the controller may still be at it."""
        return {name for name in _names(body) if self._cache.topic(name) is None}

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


def _names(body: DeleteTopicsRequest) -> list[str]:
    by_name = [topic.name for topic in body.topics if topic.topic_id == ZERO_UUID]
    return body.topic_names + [name for name in by_name if name is not None]


def _without(body: DeleteTopicsRequest, names: Collection[str]) -> DeleteTopicsRequest:
    return DeleteTopicsRequest(
        topics=[topic for topic in body.topics if topic.name not in names],
        topic_names=[name for name in body.topic_names if name not in names],
        timeout_ms=body.timeout_ms,
    )


def _say_for_version(version: int, response: DeleteTopicsResponse) -> None:
    if version < _FIRST_VERSION_WITH_DISABLED:
        for topic in response.responses:
            if topic.error_code == ErrorCode.TOPIC_DELETION_DISABLED:
                topic.error_code = ErrorCode.INVALID_REQUEST
