"""CreateTopics (19), versions 0-7: new topics, made by the controller.

KIP-464 (v4) lets the broker choose partitions and replicas, KIP-525 (v5) returns them, KIP-516 (v7)
returns topic ids. The controller writes the topic's znodes; the answer waits, up to the request's
own time-out, until the metadata of this broker shows a leader for every partition.
"""

from __future__ import annotations

from logquake.controller.controller import Controller
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.topics import (
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR


class CreateTopics(Handler[CreateTopicsRequest]):
    key = ApiKey.CREATE_TOPICS
    versions = range(8)

    def __init__(
        self, controller: Controller, cache: MetadataCache, waiters: MetadataWaiters
    ) -> None:
        self._controller = controller
        self._cache = cache
        self._waiters = waiters

    def handle(self, request: Request, body: CreateTopicsRequest) -> None:
        def created(response: CreateTopicsResponse) -> None:
            if body.validate_only:
                request.reply(response)
            else:
                self._wait_for_leaders(request, response, body.timeout_ms)

        self._controller.create_topics(body, created)

    def _wait_for_leaders(
        self, request: Request, response: CreateTopicsResponse, timeout_ms: int
    ) -> None:
        made = [topic for topic in response.topics if topic.error_code == ErrorCode.NONE]

        def all_led() -> bool:
            return all(self._is_led(topic) for topic in made)

        def finish() -> None:
            for topic in made:
                if not self._is_led(topic) or timeout_ms <= 0:
                    _time_out(topic)
            request.reply(response)

        self._waiters.wait(all_led, timeout_ms, finish)

    def _is_led(self, topic: CreatableTopicResult) -> bool:
        return self._cache.has_leaders(topic.name, range(topic.num_partitions))


def _time_out(topic: CreatableTopicResult) -> None:
    """The topic is made, or being made, but can't be used yet."""
    topic.error_code = ErrorCode.REQUEST_TIMED_OUT
    topic.num_partitions = NO_NUM_PARTITIONS
    topic.replication_factor = NO_REPLICATION_FACTOR
    topic.configs = []
