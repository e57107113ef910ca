"""Configurations: what a topic, a broker or all brokers are set to, and changes of single keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import IntEnum

from logquake.client.connection import Connection
from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)

_TOPIC, _BROKER = 2, 4
_SET, _DELETE = 0, 1
# Who asks about a topic wants to know that it is not there.
_NO_SUCH_TOPIC = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)


class ConfigSource(IntEnum):
    """Where a value comes from; the first that is set counts."""

    UNKNOWN = 0
    TOPIC = 1
    BROKER = 2
    ALL_BROKERS = 3
    PROPERTIES = 4
    DEFAULT = 5


_AT_RUN_TIME = (ConfigSource.TOPIC, ConfigSource.BROKER, ConfigSource.ALL_BROKERS)


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    name: str
    value: str | None  # None as well where it is a secret
    source: ConfigSource
    is_read_only: bool
    is_secret: bool

    @property
    def was_set_at_run_time(self) -> bool:
        return self.source in _AT_RUN_TIME


@dataclass(frozen=True, slots=True)
class ConfigTarget:
    """Make it with one of the three below."""

    kind: int
    name: str

    @classmethod
    def topic(cls, name: str) -> ConfigTarget:
        return cls(_TOPIC, name)

    @classmethod
    def broker(cls, broker_id: int) -> ConfigTarget:
        return cls(_BROKER, str(broker_id))

    @classmethod
    def all_brokers(cls) -> ConfigTarget:
        """What holds for brokers that have nothing of their own."""
        return cls(_BROKER, "")

    def __str__(self) -> str:
        if self.kind == _TOPIC:
            return f"topic {self.name}"
        return f"broker {self.name}" if self.name else "all brokers"


class Configs:
    """All methods raise ClientError: BrokerError with Kafka's code where a broker refused."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def describe(self, target: ConfigTarget) -> list[ConfigEntry]:
        """By name."""
        resource = DescribeConfigsResource(
            resource_type=target.kind, resource_name=target.name, configuration_keys=None
        )
        request = DescribeConfigsRequest(resources=[resource])

        def attempt() -> list[ConfigEntry]:
            answer = self._connection(target).request(request, DescribeConfigsResponse)
            (result,) = answer.results
            context = f"{target}: {result.error_message or 'not described'}"
            check(result.error_code, context, final=_NO_SUCH_TOPIC)
            return sorted(map(_entry, result.configs), key=lambda entry: entry.name)

        return self._router.with_retries(attempt)

    def alter(
        self, target: ConfigTarget, values: Mapping[str, str], unset: Collection[str] = ()
    ) -> None:
        """Set some keys and unset others; brokers obey a moment after the answer."""
        changes = [
            IncrementalAlterableConfig(name=name, config_operation=_SET, value=value)
            for name, value in sorted(values.items())
        ]
        changes += [
            IncrementalAlterableConfig(name=name, config_operation=_DELETE, value=None)
            for name in sorted(unset)
        ]
        resource = IncrementalAlterConfigsResource(
            resource_type=target.kind, resource_name=target.name, configs=changes
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])

        def attempt() -> None:
            answer = self._connection(target).request(request, IncrementalAlterConfigsResponse)
            for result in answer.responses:
                context = f"{target}: {result.error_message or 'not changed'}"
                check(result.error_code, context, final=_NO_SUCH_TOPIC)

        self._router.with_retries(attempt)

    def _connection(self, target: ConfigTarget) -> Connection:
        """A broker's own configuration is that broker's matter alone."""
        if target.kind == _BROKER and target.name:
            return self._router.broker(int(target.name))
        return self._router.any_broker()


def _entry(result: DescribeConfigsResourceResult) -> ConfigEntry:
    known = result.config_source in set(ConfigSource)
    return ConfigEntry(
        result.name,
        result.value,
        ConfigSource(result.config_source) if known else ConfigSource.UNKNOWN,
        result.read_only,
        result.is_sensitive,
    )
