"""What changes at run time reaches those who obey it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from logquake.controller.controller import Controller
from logquake.node.authentication.credentials import Credentials
from logquake.node.configs.broker_config import BrokerConfig, BrokerConfigHandler
from logquake.node.configs.changes import ConfigChanges, EntityHandler
from logquake.node.life.scram_users import ScramUsers
from logquake.node.outside import Outside
from logquake.node.quotas.addresses import AddressHandler
from logquake.node.quotas.quotas import Quotas
from logquake.node.replication.manager import ReplicaManager
from logquake.node.settings import BrokerSettings
from logquake.node.topics.config_handler import TopicConfigHandler
from logquake.node.topics.configs import TopicConfigs
from logquake.zk.operations import Session


def follow_configuration(
    config: BrokerConfig[BrokerSettings],
    topics: TopicConfigs,
    controller: Controller,
    replicas: ReplicaManager,
) -> None:
    """Of the settings of this broker and of all."""

    def obey(_before: BrokerSettings, after: BrokerSettings) -> None:
        topics.change_defaults(after.replication.topic_defaults)
        replicas.reconfigure(after.replication, topics.get)
        controller.reconfigure(after.controller)

    config.follow(obey)


def compose_config_changes(
    session: Session,
    outside: Outside,
    config: BrokerConfig[BrokerSettings],
    topics: TopicConfigs,
    controller: Controller,
    replicas: ReplicaManager,
    of_clients: Mapping[str, EntityHandler],
) -> ConfigChanges:
    of_topics = TopicConfigHandler(
        topics, replicas.update_topic_config, controller.enable_unclean_election
    )
    return ConfigChanges(
        session,
        outside.scheduler,
        outside.journal,
        {"topics": of_topics, "brokers": BrokerConfigHandler(config), **of_clients},
    )


def client_handlers(
    settings: BrokerSettings,
    of_clients: Mapping[str, Mapping[str, Mapping[str, str]]],
    credentials: Credentials,
    quotas: Quotas,
    outside: Outside,
) -> Mapping[str, EntityHandler]:
    """By kind. They have heard of all that clients are set to (``of_clients``)."""
    of_users: list[EntityHandler] = [quotas.handler("users")]
    if settings.security.uses_scram:
        of_users.append(ScramUsers(credentials, outside.journal))
    handlers: dict[str, EntityHandler] = {
        "users": _each_of(of_users),
        "clients": quotas.handler("clients"),
        "ips": AddressHandler(
            quotas.connections, outside.workers, outside.address_of, outside.journal
        ),
    }
    for kind, handler in handlers.items():
        for name, config in of_clients[kind].items():
            handler(name, config)
    return handlers


def _each_of(handlers: Iterable[EntityHandler]) -> EntityHandler:
    def tell(name: str, config: Mapping[str, str]) -> None:
        for handler in handlers:
            handler(name, config)

    return tell
