"""Configurations of topics, brokers and their loggers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from logquake.client.admin.asking.asks import ANYBODY, Ask, Asks, Broker, Reply, Whom, fixed
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.wire.acls import of_code
from logquake.wire.messages.configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)


class ConfigResourceType(IntEnum):
    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigResource(NamedTuple):
    """A broker's name is its id; "" means the default of all brokers."""

    type: ConfigResourceType
    name: str


class ConfigSource(IntEnum):
    """The source of a value (DescribeConfigsResponse.ConfigSource)."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    DYNAMIC_CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8


class ConfigType(IntEnum):
    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigSynonym(NamedTuple):
    """A possible source of a value; the first synonym is the effective one."""

    name: str
    value: str | None
    source: ConfigSource


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """``value`` is None if sensitive; fields that were not requested are empty."""

    name: str
    value: str | None
    source: ConfigSource = ConfigSource.UNKNOWN
    is_sensitive: bool = False
    is_read_only: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    type: ConfigType = ConfigType.UNKNOWN
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        return self.source is ConfigSource.DEFAULT_CONFIG


Config: TypeAlias = Mapping[str, ConfigEntry]
"""By name."""


def knowing(resources: Iterable[ConfigResource]) -> list[tuple[Whom, list[ConfigResource]]]:
    """The resources by broker to ask: brokers know their own, any broker knows all others.

    Raises ValueError for a broker whose name is not an id.
    """
    found: dict[Whom, list[ConfigResource]] = {}
    for resource in dict.fromkeys(resources):
        found.setdefault(_who_knows(resource), []).append(resource)
    return list(found.items())


def _who_knows(resource: ConfigResource) -> Whom:
    is_logger = resource.type is ConfigResourceType.BROKER_LOGGER
    if is_logger or (resource.type is ConfigResourceType.BROKER and resource.name):
        return Broker(int(resource.name))
    return ANYBODY


def describe_configs(
    whom: Whom,
    resources: Sequence[ConfigResource],
    results: Results[ConfigResource, Config],
    *,
    include_synonyms: bool,
    include_documentation: bool,
) -> Asks:
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(
                resource_type=each.type, resource_name=each.name, configuration_keys=None
            )
            for each in resources
        ],
        include_synonyms=include_synonyms,
        include_documentation=include_documentation,
    )
    reply: Reply[DescribeConfigsResponse] = yield Ask(whom, DescribeConfigsResponse, fixed(request))
    for told in reply.message.results:
        resource = _resource(told.resource_type, told.resource_name)
        error = refusal(told.error_code, f"configuration of {resource}", told.error_message)
        results.settle(resource, error or {each.name: _entry(each) for each in told.configs})


def _resource(resource_type: int, name: str) -> ConfigResource:
    return ConfigResource(of_code(ConfigResourceType, resource_type), name)


def _entry(told: DescribeConfigsResourceResult) -> ConfigEntry:
    source = of_code(ConfigSource, told.config_source)
    if told.is_default:  # from a broker before KIP-226
        source = ConfigSource.DEFAULT_CONFIG
    return ConfigEntry(
        told.name,
        told.value,
        source,
        told.is_sensitive,
        told.read_only,
        tuple(
            ConfigSynonym(each.name, each.value, of_code(ConfigSource, each.source))
            for each in told.synonyms
        ),
        of_code(ConfigType, told.config_type),
        told.documentation,
    )


class OpType(IntEnum):
    """How to change a key; APPEND and SUBTRACT are for lists (AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class AlterConfigOp(NamedTuple):
    """``value`` is None for DELETE."""

    name: str
    value: str | None
    type: OpType = OpType.SET


def incremental_alter_configs(
    whom: Whom,
    changes: Mapping[ConfigResource, Iterable[AlterConfigOp]],
    results: Results[ConfigResource, None],
    *,
    validate_only: bool,
) -> Asks:
    request = IncrementalAlterConfigsRequest(
        resources=[
            IncrementalAlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[
                    IncrementalAlterableConfig(
                        name=each.name, config_operation=each.type, value=each.value
                    )
                    for each in operations
                ],
            )
            for resource, operations in changes.items()
        ],
        validate_only=validate_only,
    )
    reply: Reply[IncrementalAlterConfigsResponse] = yield Ask(
        whom, IncrementalAlterConfigsResponse, fixed(request)
    )
    _tell(reply.message.responses, results)


def alter_configs(
    whom: Whom,
    configs: Mapping[ConfigResource, Mapping[str, str | None]],
    results: Results[ConfigResource, None],
    *,
    validate_only: bool,
) -> Asks:
    """Removes all of a resource's settings that are not named."""
    request = AlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[AlterableConfig(name=key, value=value) for key, value in config.items()],
            )
            for resource, config in configs.items()
        ],
        validate_only=validate_only,
    )
    reply: Reply[AlterConfigsResponse] = yield Ask(whom, AlterConfigsResponse, fixed(request))
    _tell(reply.message.responses, results)


def _tell(
    responses: Iterable[AlterConfigsResourceResponse], results: Results[ConfigResource, None]
) -> None:
    for told in responses:
        resource = _resource(told.resource_type, told.resource_name)
        what = f"configuration of {resource}"
        results.settle(resource, refusal(told.error_code, what, told.error_message))
