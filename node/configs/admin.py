"""Changes of configuration carried out: checked, written to ZooKeeper, answered each by itself.

Topics' by any broker, a broker's own by itself, the default of all by any (ConfigAdminManager and
ZkAdminManager, whose errors differ by where a fault is found). A broker obeys what it wrote as the
others do: when the notification comes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from logquake.controller.rules.config_def import InvalidConfig, InvalidValue, parse_whole
from logquake.controller.rules.topic_config import TOPIC_KEYS, check_topic_config
from logquake.node.configs.alteration import (
    ConfigResourceType,
    Operation,
    ResourceChange,
    altered,
    check_shape,
    repeated,
)
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.broker_keys import BROKER_KEYS
from logquake.node.configs.entities import change_entity
from logquake.node.configs.loggers import Loggers
from logquake.node.configs.topic_settings import topic_settings
from logquake.wire.errors import ErrorCode, Refused
from logquake.zk.operations import Session
from logquake.zk.procedure import ZkFailure, run
from logquake.zk.znodes.configs import broker_entity, topic_entity

Outcome = Refused | None
Config = Mapping[str, str]
Allows = Callable[[ResourceChange], bool]
"""Whether who asks may change this resource."""


class ConfigAdmin:
    def __init__(
        self,
        config: BrokerConfig[Any],
        loggers: Loggers,
        session: Session,
        has_topic: Callable[[str], bool],
    ) -> None:
        self._config = config
        self._loggers = loggers
        self._session = session
        self._has_topic = has_topic

    def alter(
        self,
        changes: Sequence[ResourceChange],
        allows: Allows,
        *,
        only_check: bool,
        done: Callable[[list[Outcome]], None],
    ) -> None:
        """done gets an outcome a change, in order."""

        def answered(outcomes: list[Outcome] | ZkFailure) -> None:
            if isinstance(outcomes, ZkFailure):
                raise TypeError(f"each resource has its own answer: {outcomes}")
            done(outcomes)

        run(self._session, self._alter_all(changes, allows, only_check=only_check), answered)

    async def _alter_all(
        self, changes: Sequence[ResourceChange], allows: Allows, *, only_check: bool
    ) -> list[Outcome]:
        twice = repeated(changes)
        outcomes: list[Outcome] = []
        for change in changes:
            try:
                if (change.type, change.name) in twice:
                    raise _refusal("Each resource must appear at most once.")
                check_shape(change)
                await self._alter(change, partial(_check_allowed, change, allows), only_check)
            except Refused as refused:
                outcomes.append(refused)
            except ZkFailure:
                outcomes.append(Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None))
            else:
                outcomes.append(None)
        return outcomes

    async def _alter(
        self, change: ResourceChange, check_allowed: Callable[[], None], only_check: bool
    ) -> None:
        """Who may not change a broker is told first what is wrong with the change, as by Kafka.

        Raises Refused, ZkFailure.
        """
        match change.type:
            case ConfigResourceType.BROKER_LOGGER:
                check_allowed()
                self._loggers.alter(change, only_check=only_check)
            case ConfigResourceType.BROKER:
                entity = broker_entity(self._broker_of(change.name))
                after = partial(self._broker_after, change, check_allowed, only_check)
                await change_entity(entity, after)
            case ConfigResourceType.TOPIC:
                check_allowed()
                await self._alter_topic(change, only_check=only_check)
            case _:
                check_allowed()
                raise _refusal(
                    "AlterConfigs is only supported for topics and brokers, "
                    f"but resource type is {ConfigResourceType(change.type).name}"
                )

    def _broker_of(self, name: str) -> int | None:
        """None for the default of all. Raises Refused."""
        if not name:
            return None
        own, number = self._config.broker_id, parse_whole(name)
        if number is None:
            raise _refusal(f"Node id must be an integer, but it is: {name}")
        if number != own:
            raise _refusal(f"Unexpected broker id, expected {own}, but received {name}")
        return number

    def _broker_after(
        self,
        change: ResourceChange,
        check_allowed: Callable[[], None],
        only_check: bool,
        before: Config,
    ) -> Config | None:
        """Raises Refused."""
        own = bool(change.name)
        for each in change.alterations:
            if each.operation not in set(Operation):
                raise _refusal(f"Unknown operations type {each.operation}")
        after = _altered(self._config.readable(before, own=own), change)
        try:
            self._config.check(after, own=own)
        except InvalidValue as invalid:
            raise _refusal(str(invalid)) from invalid
        check_allowed()
        if only_check:
            return None
        try:
            if own:
                self._config.read_files_again(after)
            return self._config.passwords.encoded(after, own=own)
        except InvalidValue as invalid:
            raise _invalid(change, invalid) from invalid

    async def _alter_topic(self, change: ResourceChange, *, only_check: bool) -> None:
        """Raises Refused, ZkFailure."""
        if not change.name:
            raise _refusal("Default topic resources are not allowed.")
        after = partial(self._topic_after, change, only_check=only_check)
        if self._has_topic(change.name):
            await change_entity(topic_entity(change.name), after)
        else:
            after({})  # which finds what is wrong

    def _topic_after(
        self, change: ResourceChange, before: Config, *, only_check: bool
    ) -> Config | None:
        """Raises Refused."""
        after = _altered(before, change)
        if not self._has_topic(change.name):
            said = f"The topic '{change.name}' does not exist."
            raise Refused(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, said)
        try:
            check_topic_config(after, topic_settings(self._config.applied))
        except InvalidConfig as invalid:
            raise _invalid(change, invalid) from invalid
        return None if only_check else after


def _check_allowed(change: ResourceChange, allows: Allows) -> None:
    if not allows(change):
        is_topic = change.type == ConfigResourceType.TOPIC
        raise Refused(
            ErrorCode.TOPIC_AUTHORIZATION_FAILED
            if is_topic
            else ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
            None,
        )


def _altered(before: Config, change: ResourceChange) -> dict[str, str]:
    keys = TOPIC_KEYS if change.type == ConfigResourceType.TOPIC else BROKER_KEYS
    try:
        return altered(before, change, keys)
    except InvalidConfig as invalid:
        raise _invalid(change, invalid) from invalid


def _refusal(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)


def _invalid(change: ResourceChange, invalid: InvalidConfig) -> Refused:
    message = str(invalid)
    if isinstance(invalid, InvalidValue):
        resource = (
            f"ConfigResource(type={ConfigResourceType(change.type).name}, name='{change.name}')"
        )
        message = f"Invalid config value for resource {resource}: {message}"
    return Refused(ErrorCode.INVALID_CONFIG, message)
