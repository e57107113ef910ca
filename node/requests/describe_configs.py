"""DescribeConfigs (32), versions 0-4: what topics, this broker and its loggers are set to.

KIP-226 (v1) adds where a value comes from and what it hides, KIP-569 (v3) types and documentation.
A topic's overrides are read from ZooKeeper, so that any broker knows them at once. Absent: client
metrics (KIP-714), which Kafka serves in KRaft alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from logquake.controller.rules.config_def import InvalidValue, parse_whole
from logquake.controller.rules.topic_rules import TopicRefused, check_name
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.configs.alteration import ConfigResourceType
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.describing import (
    Entries,
    describe_broker,
    describe_defaults,
    describe_topic,
)
from logquake.node.configs.entities import read_entity
from logquake.node.configs.loggers import Loggers
from logquake.node.configs.topic_settings import topic_settings
from logquake.node.metadata.cache import MetadataCache
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, Refused
from logquake.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from logquake.zk.operations import Session
from logquake.zk.procedure import ZkFailure, run
from logquake.zk.znodes.configs import topic_entity

# Of a resource type that nobody knows; it fails the whole request.
_MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)


class DescribeConfigs(Handler[DescribeConfigsRequest]):
    key = ApiKey.DESCRIBE_CONFIGS
    versions = range(5)

    def __init__(
        self,
        config: BrokerConfig[Any],
        loggers: Loggers,
        session: Session,
        cache: MetadataCache,
        authorizer: Authorizer,
    ) -> None:
        self._config = config
        self._loggers = loggers
        self._session = session
        self._cache = cache
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeConfigsRequest) -> None:
        if any(each.resource_type not in set(ConfigResourceType) for each in body.resources):
            refused = Refused(ErrorCode.INVALID_REQUEST, _MALFORMED)
            results = [_result(each, refused) for each in body.resources]
            request.reply(DescribeConfigsResponse(results=results))
            return

        allowed = [each for each in body.resources if self._allows(request, each)]
        denied = [_denial(each) for each in body.resources if each not in allowed]

        def described(results: list[DescribeConfigsResult] | ZkFailure) -> None:
            if isinstance(results, ZkFailure):
                raise TypeError(f"each resource has its own answer: {results}")
            request.reply(DescribeConfigsResponse(results=results + denied))

        run(self._session, self._describe_all(allowed, body), described)

    def _allows(self, request: Request, resource: DescribeConfigsResource) -> bool:
        if resource.resource_type == ConfigResourceType.TOPIC:
            return self._authorizer.allows(
                request, AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, resource.resource_name
            )
        return self._authorizer.allows_on_cluster(request, AclOperation.DESCRIBE_CONFIGS)

    async def _describe_all(
        self, resources: Sequence[DescribeConfigsResource], body: DescribeConfigsRequest
    ) -> list[DescribeConfigsResult]:
        results = []
        for resource in resources:
            try:
                entries = await self._entries(resource)
            except Refused as refused:
                results.append(_result(resource, refused))
            except (InvalidValue, ZkFailure):
                failed = Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
                results.append(_result(resource, failed))
            else:
                results.append(_described(resource, entries, body))
        return results

    async def _entries(self, resource: DescribeConfigsResource) -> Entries:
        """Raises Refused, InvalidValue, ZkFailure."""
        wanted = frozenset(resource.configuration_keys or ())
        match resource.resource_type:
            case ConfigResourceType.TOPIC:
                return await self._of_topic(resource.resource_name, wanted)
            case ConfigResourceType.BROKER if not resource.resource_name:
                return describe_defaults(self._config.layers, wanted)
            case ConfigResourceType.BROKER:
                self._check_broker(resource.resource_name, " or empty string, but")
                return describe_broker(self._config.layers, self._config.applied, wanted)
            case ConfigResourceType.BROKER_LOGGER:
                if not resource.resource_name:
                    raise _refusal("Broker id must not be empty")
                self._check_broker(resource.resource_name, " but")
                return [
                    each for each in self._loggers.describe() if not wanted or each.name in wanted
                ]
        if not resource.resource_name:
            raise _refusal("Client metrics subscription name must not be empty")
        raise _refusal("Config type client-metrics is only supported on KRaft clusters")

    async def _of_topic(self, topic: str, wanted: frozenset[str]) -> Entries:
        """Raises Refused, InvalidValue, ZkFailure."""
        try:
            check_name(topic)
        except TopicRefused as refused:
            raise Refused(refused.code, refused.message) from refused
        if not self._cache.has_topic(topic):
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "")
        overrides = await read_entity(topic_entity(topic))
        defaults = topic_settings(self._config.applied)
        return describe_topic(overrides, defaults, self._config.layers, wanted)

    def _check_broker(self, name: str, or_what: str) -> None:
        """Raises Refused."""
        own, number = self._config.broker_id, parse_whole(name)
        if number is None:
            raise _refusal(f"Broker id must be an integer, but it is: {name}")
        if number != own:
            raise _refusal(f"Unexpected broker id, expected {own}{or_what} received {name}")


def _described(
    resource: DescribeConfigsResource, entries: Entries, body: DescribeConfigsRequest
) -> DescribeConfigsResult:
    for entry in entries:
        if not body.include_synonyms:
            entry.synonyms = []
        if not body.include_documentation:
            entry.documentation = None
    return DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=entries,
    )


def _denial(resource: DescribeConfigsResource) -> DescribeConfigsResult:
    if resource.resource_type == ConfigResourceType.TOPIC:
        refused = Refused(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "Topic authorization failed.")
    else:
        refused = Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
    return _result(resource, refused)


def _result(resource: DescribeConfigsResource, refused: Refused) -> DescribeConfigsResult:
    return DescribeConfigsResult(
        error_code=refused.code,
        error_message=refused.message,
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
    )


def _refusal(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)
