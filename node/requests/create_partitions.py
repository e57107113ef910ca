"""CreatePartitions (37), versions 0-3: topics grow to a number of partitions (KIP-195).

The controller writes the topic's assignment; the answer waits, up to the request's own time-out,
until the metadata of this broker shows a leader for every partition.
Who may not alter a topic is told so; a topic named twice is refused, whoever asks.
Who grows topics too fast is refused (KIP-599, v3), or has to wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

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
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)

_FIRST_STRICT_VERSION = 3


class CreatePartitions(Handler[CreatePartitionsRequest]):
    key = ApiKey.CREATE_PARTITIONS
    versions = range(4)

    def __init__(
        self,
        controller: Controller,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        authorizer: Authorizer,
    ) -> None:
        self._controller = controller
        self._authorizer = authorizer
        self._cache = cache
        self._waiters = waiters

    def handle(self, request: Request, body: CreatePartitionsRequest) -> None:
        denied = self._denied(request, body)
        allowed = CreatePartitionsRequest(
            topics=[topic for topic in body.topics if topic.name not in denied],
            timeout_ms=body.timeout_ms,
            validate_only=body.validate_only,
        )

        def written(response: CreatePartitionsResponse) -> None:
            response.results += [_denied_result(name) for name in sorted(denied)]
            if body.validate_only:
                request.reply(response)
            else:
                self._wait_for_leaders(request, body, response)

        self._controller.create_partitions(
            allowed, written, mutations_of(request, _FIRST_STRICT_VERSION)
        )

    def _denied(self, request: Request, body: CreatePartitionsRequest) -> Collection[str]:
        if not self._controller.is_active:
            return ()
        named = Counter(topic.name for topic in body.topics)
        once = (name for name, times in named.items() if times == 1)
        return self._authorizer.denied(request, AclOperation.ALTER, ResourceType.TOPIC, once)

    def _wait_for_leaders(
        self, request: Request, body: CreatePartitionsRequest, response: CreatePartitionsResponse
    ) -> None:
        counts = {topic.name: topic.count for topic in body.topics}
        grown = [each for each in response.results if each.error_code == ErrorCode.NONE]

        def is_led(topic: CreatePartitionsTopicResult) -> bool:
            return self._cache.has_leaders(topic.name, range(counts[topic.name]))

        def finish() -> None:
            for topic in grown:
                if not is_led(topic) or body.timeout_ms <= 0:
                    topic.error_code = ErrorCode.REQUEST_TIMED_OUT
            request.reply(response)

        self._waiters.wait(lambda: all(map(is_led, grown)), body.timeout_ms, finish)


def _denied_result(topic: str) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(
        name=topic,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="The topic authorization is failed.",
    )
