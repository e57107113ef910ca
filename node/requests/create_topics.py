"""CreateTopics (19), versions 0-7: new topics, made by the controller.

KIP-464 (v4) lets the broker choose partitions and replicas, KIP-525 (v5) returns them and the
configuration that the topic begins with, KIP-516 (v7) returns topic ids. The controller writes the
topic's znodes; the answer waits, up to the request's own time-out, until the metadata of this
broker shows a leader for every partition.

Who may create on the cluster, or that topic, gets it; who may not describe its configuration is not
told how it was made. A broker that asks for its clients has looked already whether they may. Who
creates too fast is refused (KIP-599, v6), or has to wait, but for a broker.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

from logquake.controller.controller import Controller
from logquake.controller.rules.mutations import MayMutate, any_mutations
from logquake.controller.rules.topic_rules import CLUSTER_METADATA_TOPIC
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.describing import describe_topic
from logquake.node.configs.topic_settings import topic_settings
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.node.requests.throttling import mutations_of
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.listeners import ListenerName
from logquake.wire.messages.configs import DescribeConfigsResourceResult
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from logquake.wire.sentinels import NO_NUM_PARTITIONS, NO_REPLICATION_FACTOR
from logquake.wire.uuids import ZERO_UUID

Overrides = tuple[tuple[str, str], ...]

_FIRST_WITH_CONFIGS = 5
_FIRST_STRICT_VERSION = 6

# Nothing has failed, or nothing was tried.
_UNTRIED = (ErrorCode.NONE, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


class CreateTopics(Handler[CreateTopicsRequest]):
    key = ApiKey.CREATE_TOPICS
    versions = range(8)

    def __init__(
        self,
        controller: Controller,
        cache: MetadataCache,
        waiters: MetadataWaiters,
        authorizer: Authorizer,
        config: BrokerConfig[Any],
        *,
        between_brokers: ListenerName,
    ) -> None:
        self._controller = controller
        self._cache = cache
        self._waiters = waiters
        self._authorizer = authorizer
        self._config = config
        self._between_brokers = between_brokers

    def handle(self, request: Request, body: CreateTopicsRequest) -> None:
        # Who is not in office says that of all topics, whoever asks.
        denied = self._denied(request, body) if self._controller.is_active else ()
        names = {topic.name for topic in body.topics}
        hidden = self._authorizer.denied(
            request, AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, names
        )

        def created(response: CreateTopicsResponse) -> None:
            if request.header.api_version >= _FIRST_WITH_CONFIGS:
                self._add_configs(response, body)
            if body.validate_only:
                finish(response)
            else:
                self._wait_for_leaders(response, body.timeout_ms, lambda: finish(response))

        def finish(response: CreateTopicsResponse) -> None:
            _add_denied(response, body, denied)
            _hide(response, body, hidden)
            request.reply(response)

        self._controller.create_topics(_without(body, denied), created, self._mutations_of(request))

    def _mutations_of(self, request: Request) -> MayMutate:
        if self._is_of_broker(request):
            return any_mutations
        return mutations_of(request, _FIRST_STRICT_VERSION)

    def _is_of_broker(self, request: Request) -> bool:
        """Whether it may act for the cluster, and has the name of a broker."""
        name = request.header.client_id or ""
        return name in map(str, self._cache.endpoints()) and self._may_act_for_cluster(request)

    def _denied(self, request: Request, body: CreateTopicsRequest) -> Collection[str]:
        """What is refused to all comes first."""
        if self._may_create_any(request):
            return ()
        named = Counter(topic.name for topic in body.topics)
        del named[CLUSTER_METADATA_TOPIC]
        once = (name for name, times in named.items() if times == 1)
        return self._authorizer.denied(request, AclOperation.CREATE, ResourceType.TOPIC, once)

    def _may_create_any(self, request: Request) -> bool:
        if self._authorizer.allows_on_cluster(request, AclOperation.CREATE):
            return True
        return self._may_act_for_cluster(request)

    def _may_act_for_cluster(self, request: Request) -> bool:
        return request.listener == self._between_brokers and self._authorizer.allows_on_cluster(
            request, AclOperation.CLUSTER_ACTION
        )

    def _add_configs(self, response: CreateTopicsResponse, body: CreateTopicsRequest) -> None:
        asked = {topic.name: _overrides(topic) for topic in body.topics}
        defaults = topic_settings(self._config.applied)

        @functools.cache  # the topics of a request are mostly alike
        def configs(overrides: Overrides) -> list[CreatableTopicConfigs]:
            entries = describe_topic(dict(overrides), defaults, self._config.layers, ())
            return [_config(entry) for entry in entries]

        for topic in response.topics:
            if topic.error_code == ErrorCode.NONE:
                topic.configs = configs(asked[topic.name])

    def _wait_for_leaders(
        self, response: CreateTopicsResponse, timeout_ms: int, then: Callable[[], None]
    ) -> None:
        made = [topic for topic in response.topics if topic.error_code == ErrorCode.NONE]

        def all_led() -> bool:
            return all(self._is_led(topic) for topic in made)

        def finish() -> None:
            for topic in made:
                if not self._is_led(topic) or timeout_ms <= 0:
                    _time_out(topic)
            then()

        self._waiters.wait(all_led, timeout_ms, finish)

    def _is_led(self, topic: CreatableTopicResult) -> bool:
        return self._cache.has_leaders(topic.name, range(topic.num_partitions))


def _time_out(topic: CreatableTopicResult) -> None:
    """The topic is made, or being made, but can't be used yet."""
    topic.error_code = ErrorCode.REQUEST_TIMED_OUT
    topic.num_partitions = NO_NUM_PARTITIONS
    topic.replication_factor = NO_REPLICATION_FACTOR
    topic.configs = []


def _overrides(topic: CreatableTopic) -> Overrides:
    return tuple((each.name, each.value or "") for each in topic.configs)


def _config(entry: DescribeConfigsResourceResult) -> CreatableTopicConfigs:
    return CreatableTopicConfigs(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.config_source,
        is_sensitive=entry.is_sensitive,
    )


def _without(body: CreateTopicsRequest, denied: Collection[str]) -> CreateTopicsRequest:
    if not denied:
        return body
    return CreateTopicsRequest(
        topics=[topic for topic in body.topics if topic.name not in denied],
        timeout_ms=body.timeout_ms,
        validate_only=body.validate_only,
    )


def _add_denied(
    response: CreateTopicsResponse, body: CreateTopicsRequest, denied: Collection[str]
) -> None:
    """In the order of the request."""
    others = iter(response.topics)
    response.topics = [
        _denied_result(topic.name) if topic.name in denied else next(others)
        for topic in body.topics
    ]


def _denied_result(topic: str) -> CreatableTopicResult:
    return CreatableTopicResult(
        name=topic,
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        error_message="Authorization failed.",
    )


def _hide(
    response: CreateTopicsResponse, body: CreateTopicsRequest, hidden: Collection[str]
) -> None:
    """How they were made, of those whose configuration the asker may not describe.

    Kafka says that something is hidden unless the making itself failed.
    """
    named = Counter(topic.name for topic in body.topics)
    for topic in response.topics:
        has_failed = topic.error_code not in _UNTRIED and named[topic.name] == 1
        if topic.name in hidden and not has_failed:
            topic.num_partitions = NO_NUM_PARTITIONS
            topic.replication_factor = NO_REPLICATION_FACTOR
            topic.topic_id = ZERO_UUID
            topic.configs = []
            topic.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
