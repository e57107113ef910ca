"""Makes the parts of a broker, in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Callable

from logquake.controller.controller import Controller
from logquake.node.authentication.credentials import Credentials
from logquake.node.authorizer.acl_authorizer import AclAuthorizer
from logquake.node.authorizer.acls import BrokerAcls
from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.composition.configuration import (
    client_handlers,
    compose_config_changes,
    follow_configuration,
)
from logquake.node.composition.parts import Membership, Parts
from logquake.node.configs.broker_config import BrokerConfig
from logquake.node.configs.changes import ConfigChanges
from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.coordinators.groups.coordinator import GroupCoordinator
from logquake.node.coordinators.transactions.composition import compose_transactions
from logquake.node.coordinators.transactions.coordinator import TransactionCoordinator
from logquake.node.life.delegation_tokens import DelegationTokens
from logquake.node.life.first_orders import FirstOrders
from logquake.node.life.log_dir_loading import LogDirLoading
from logquake.node.life.log_dir_notice import LogDirNotice
from logquake.node.life.registration import Registrar
from logquake.node.metadata.cache import MetadataCache
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
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.segments.open_files import OpenFiles
from logquake.zk.operations import Session
from logquake.zk.znodes.brokers import BrokerRegistration


class Composer:
    """Makes the parts of one broker, each once: load_logs(), and then compose()."""

    def __init__(
        self,
        config: BrokerConfig[BrokerSettings],
        outside: Outside,
        session: Session,
        membership: Membership,
        credentials: Credentials,
    ) -> None:
        self._config = config
        self._credentials = credentials
        self._settings = settings = config.settings
        self._outside = outside
        self._session = session
        self._membership = membership
        self._cache = MetadataCache(settings.listeners.inter_broker)
        self._waiters = MetadataWaiters(outside.scheduler)
        self._lost_leaders = LostLeaders(
            settings.broker_id,
            self._cache,
            self._waiters,
            outside.network,
            outside.scheduler,
            settings.controller.vigil_timing,
            settings.lost_leader_max_wait_ms,
            settings.lost_leader_notice_ms,
        )
        self._acls = self._broker_acls()
        self._authorizer = AllowAll() if self._acls is None else self._acls.authorizer
        self._quotas = Quotas(
            settings.quotas, outside.scheduler, outside.journal, outside.thread_time_ns
        )
        self._configs = TopicConfigs(
            session,
            settings.replication.topic_defaults,
            membership.topic_overrides,
            outside.journal,
        )

    def load_logs(self, done: Callable[[LogDirs], None]) -> LogDirLoading:
        """Begin to open the log directories, which compose() needs."""
        outside = self._outside
        options = LogDirOptions(
            self._settings.broker_id,
            self._membership.cluster_id,
            outside.scheduler.wall_ms(),
            lambda topic: self._configs.get(topic).log,
            unique=lambda: outside.random.randbytes(16).hex(),
            recovery_threads=self._settings.recovery_threads,
            open_files=OpenFiles(self._settings.open_segments_max),
        )
        loading = LogDirLoading(
            self._settings.log_dirs,
            options,
            disk=outside.disk,
            scheduler=outside.scheduler,
            workers=outside.workers,
            journal=outside.journal,
            done=done,
        )
        loading.start()
        return loading

    def compose(
        self,
        log_dirs: LogDirs,
        *,
        on_registered: Callable[[], None],
        on_refused: Callable[[str], None],
    ) -> Parts:
        settings, outside = self._settings, self._outside
        registrar = self._registrar(on_registered, on_refused)
        link = ControllerLink(
            outside.network,
            str(settings.broker_id),
            lambda: self._cache.endpoint(controller.active_controller_id),
        )
        requests = ControllerRequests(link.channel, outside.scheduler)
        controller = self._controller(on_holder_changed=link.follow)
        replicas = self._replica_manager(log_dirs, registrar, requests, on_refused)
        groups = self._group_coordinator(replicas)
        follow_configuration(self._config, self._configs, controller, replicas)
        tokens = self._tokens(controller)
        producer_ids = self._producer_ids(registrar, requests)
        return Parts(
            config=self._config,
            outside=outside,
            session=self._session,
            cluster_id=self._membership.cluster_id,
            metadata=self._cache,
            coordinator_topics=self._membership.coordinator_topics,
            waiters=self._waiters,
            first_metadata=FirstMetadata(
                self._cache, self._waiters, settings.first_metadata_max_wait_ms
            ),
            lost_leaders=self._lost_leaders,
            topic_configs=self._configs,
            config_changes=self._config_changes(controller, replicas),
            acls=self._acls,
            authorizer=self._authorizer,
            quotas=self._quotas,
            tokens=tokens,
            registrar=registrar,
            first_orders=self._first_orders(replicas),
            controller=controller,
            controller_link=link,
            controller_requests=requests,
            log_dirs=log_dirs,
            replicas=replicas,
            groups=groups,
            transactions=self._transaction_coordinator(replicas, producer_ids),
            producer_ids=producer_ids,
            auto_creation=AutoTopicCreation(settings.auto_creation, requests, outside.scheduler),
        )

    def _registrar(
        self, on_registered: Callable[[], None], on_refused: Callable[[str], None]
    ) -> Registrar:
        settings, outside = self._settings, self._outside
        registration = BrokerRegistration(
            settings.broker_id,
            settings.listeners.advertised,
            outside.scheduler.wall_ms(),
            rack=settings.rack,
        )
        return Registrar(
            self._session,
            outside.network,
            outside.scheduler,
            registration,
            listener=settings.listeners.inter_broker,
            session_timeout_ms=settings.zookeeper.session_timeout_ms,
            replaces_dead=settings.controller.failover_on_refusal,
            on_registered=on_registered,
            on_refused=on_refused,
        )

    def _controller(self, on_holder_changed: Callable[[], None]) -> Controller:
        return Controller(
            self._settings.broker_id,
            self._settings.controller,
            session=self._session,
            network=self._outside.network,
            scheduler=self._outside.scheduler,
            journal=self._outside.journal,
            random=self._outside.random,
            on_holder_changed=on_holder_changed,
        )

    def _replica_manager(
        self,
        log_dirs: LogDirs,
        registrar: Registrar,
        requests: ControllerRequests,
        on_refused: Callable[[str], None],
    ) -> ReplicaManager:
        outside = self._outside
        replicas = ReplicaManager(
            self._settings.broker_id,
            self._settings.replication,
            log_dirs=log_dirs,
            scheduler=outside.scheduler,
            workers=outside.workers,
            network=outside.network,
            journal=outside.journal,
            random=outside.random,
            metadata=self._cache,
            transaction_log=self._membership.coordinator_topics.transactions,
            broker_epoch=lambda: registrar.broker_epoch,
            controller=requests,
            on_log_dir_failed=self._log_dir_notice().send,
            on_last_log_dir_failed=on_refused,
        )
        replicas.start()
        return replicas

    def _log_dir_notice(self) -> LogDirNotice:
        outside = self._outside
        return LogDirNotice(
            self._settings.broker_id, self._session, outside.scheduler, outside.journal
        )

    def _group_coordinator(self, replicas: ReplicaManager) -> GroupCoordinator:
        outside = self._outside
        groups = GroupCoordinator(
            self._membership.coordinator_topics.groups,
            self._settings.groups,
            self._settings.offsets,
            replicas,
            outside.scheduler,
            outside.workers,
            outside.journal,
        )
        groups.start()
        return groups

    def _producer_ids(self, registrar: Registrar, requests: ControllerRequests) -> ProducerIds:
        return ProducerIds(
            self._settings.broker_id,
            lambda: registrar.broker_epoch,
            requests,
            self._outside.scheduler,
            timeout_ms=self._settings.request_timeout_ms,
        )

    def _transaction_coordinator(
        self, replicas: ReplicaManager, producer_ids: ProducerIds
    ) -> TransactionCoordinator:
        return compose_transactions(
            self._settings.broker_id,
            self._membership.coordinator_topics.transactions,
            self._settings.transactions,
            self._outside,
            self._session,
            self._cache,
            replicas,
            producer_ids.next,
        )

    def _broker_acls(self) -> BrokerAcls | None:
        settings, outside = self._settings.authorizer, self._outside
        if not settings.is_enabled:
            return None
        return BrokerAcls(
            AclAuthorizer(settings), self._session, outside.scheduler, outside.journal
        )

    def _tokens(self, controller: Controller) -> DelegationTokens:
        outside = self._outside
        tokens = DelegationTokens(
            self._settings.tokens,
            self._session,
            outside.scheduler,
            outside.journal,
            outside.random,
            is_controller=lambda: controller.is_active,
        )
        self._credentials.find_token = tokens.find
        tokens.start()
        return tokens

    def _config_changes(self, controller: Controller, replicas: ReplicaManager) -> ConfigChanges:
        of_clients = client_handlers(
            self._settings,
            self._membership.of_clients,
            self._credentials,
            self._quotas,
            self._outside,
        )
        return compose_config_changes(
            self._session,
            self._outside,
            self._config,
            self._configs,
            controller,
            replicas,
            of_clients,
        )

    def _first_orders(self, replicas: ReplicaManager) -> FirstOrders:
        return FirstOrders(
            self._settings.broker_id,
            self._cache,
            self._waiters,
            lambda: replicas.state_changes.has_orders,
        )
