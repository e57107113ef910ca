"""What a running broker is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.controller.controller import Controller
from logquake.node.authorizer.acls import BrokerAcls
from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.changes import ConfigChanges
from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.coordinators.groups.coordinator import GroupCoordinator
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.life.delegation_tokens import DelegationTokens
from logquake.node.life.first_orders import FirstOrders
from logquake.node.life.registration import Registrar
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.coordinators import CoordinatorTopics
from logquake.node.metadata.first_metadata import FirstMetadata
from logquake.node.metadata.lost_leaders import LostLeaders
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.outside import Outside
from logquake.node.producer_ids import ProducerIds
from logquake.node.quotas.quotas import Quotas
from logquake.node.replication.manager import ReplicaManager
from logquake.node.settings import BrokerSettings
from logquake.node.topics.auto_creation import AutoTopicCreation
from logquake.node.topics.configs import TopicConfigs
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.zk.operations import Session
from logquake.zk.znodes.configs import EntityConfig

KINDS_OF_CLIENTS = ("users", "clients", "ips")


@dataclass(frozen=True, slots=True)
class Membership:
    """What ZooKeeper said before the broker could be put together."""

    cluster_id: str
    topic_overrides: Mapping[str, EntityConfig]
    broker_defaults: Mapping[str, str]
    broker_overrides: Mapping[str, str]
    of_clients: Mapping[str, Mapping[str, Mapping[str, str]]]
    """What users, client ids and addresses are set to: by kind, and name below it."""
    coordinator_topics: CoordinatorTopics


@dataclass(frozen=True, slots=True)
class Parts:
    """Each part, for those who make handlers of them and for the broker's shell."""

    config: BrokerConfig[BrokerSettings]
    outside: Outside
    session: Session
    cluster_id: str
    metadata: MetadataCache
    coordinator_topics: CoordinatorTopics
    waiters: MetadataWaiters
    first_metadata: FirstMetadata
    lost_leaders: LostLeaders
    topic_configs: TopicConfigs
    config_changes: ConfigChanges
    acls: BrokerAcls | None  # None without an authorizer
    authorizer: Authorizer
    quotas: Quotas
    tokens: DelegationTokens
    registrar: Registrar
    first_orders: FirstOrders
    controller: Controller
    controller_link: ControllerLink
    controller_requests: ControllerRequests
    log_dirs: LogDirs
    replicas: ReplicaManager
    groups: GroupCoordinator
    transactions: TransactionCoordinator
    producer_ids: ProducerIds
    auto_creation: AutoTopicCreation

    @property
    def settings(self) -> BrokerSettings:
        """As they are now."""
        return self.config.settings

    def broker_epoch(self) -> int:
        return self.registrar.broker_epoch

    def close(self) -> None:
        self.controller.close()
        self.controller_link.close()
        self.lost_leaders.close()
        self.groups.close()
        self.replicas.close()
        self.log_dirs.close(clean=True)
