"""What changes at run time reaches those who obey it."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.controller.controller import Controller
from logquake.node.authentication.credentials import Credentials
from logquake.node.configs.broker_config import BrokerConfig, BrokerConfigHandler
from logquake.node.configs.changes import ConfigChanges, EntityHandler
from logquake.node.life.scram_users import ScramUsers
from logquake.node.outside import Outside
from logquake.node.replication.manager import ReplicaManager
from logquake.node.settings import BrokerSettings
from logquake.node.topics.config_handler import TopicConfigHandler
from logquake.node.topics.configs import TopicConfigs
from logquake.seams.journal import Journal
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
    users: Mapping[str, EntityHandler],
) -> ConfigChanges:
    of_topics = TopicConfigHandler(
        topics, replicas.update_topic_config, controller.enable_unclean_election
    )
    return ConfigChanges(
        session,
        outside.scheduler,
        outside.journal,
        {"topics": of_topics, "brokers": BrokerConfigHandler(config), **users},
    )


def user_handlers(
    settings: BrokerSettings,
    users: Mapping[str, Mapping[str, str]],
    credentials: Credentials,
    journal: Journal,
) -> Mapping[str, EntityHandler]:
    """It has heard of all ``users``. Without SCRAM nobody here asks what they are set to."""
    if not settings.security.uses_scram:
        return {}
    handler = ScramUsers(credentials, journal)
    for name, config in users.items():
        handler(name, config)
    return {"users": handler}
