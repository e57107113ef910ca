"""The parts of a broker and how they hang together, in the order in which they are made.

Nothing here decides anything; it is the one place that knows every part. What a part needs of
another it gets by constructor, as a value or as a narrow callable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from logquake.controller.controller import Controller
from logquake.node.authentication.credentials import Credentials
from logquake.node.authorizer.acl_authorizer import AclAuthorizer
from logquake.node.authorizer.acls import BrokerAcls
from logquake.node.authorizer.authorizer import AllowAll
from logquake.node.configs.admin import ConfigAdmin
from logquake.node.configs.broker_config import BrokerConfig, BrokerConfigHandler
from logquake.node.configs.changes import ConfigChanges, EntityHandler
from logquake.node.configs.loggers import Loggers
from logquake.node.controller_link import ControllerLink, ControllerRequests
from logquake.node.coordinators.groups.coordinator import GroupCoordinator
from logquake.node.coordinators.transactions.composition import compose_transactions
from logquake.node.life.delegation_tokens import DelegationTokens
from logquake.node.life.first_orders import FirstOrders
from logquake.node.life.log_dir_loading import LogDirLoading
from logquake.node.life.log_dir_notice import LogDirNotice
from logquake.node.life.registration import Registrar
from logquake.node.life.scram_administration import ScramAdministration
from logquake.node.life.scram_users import ScramUsers
from logquake.node.metadata.cache import MetadataCache
from logquake.node.metadata.first_metadata import FirstMetadata
from logquake.node.metadata.lost_leaders import LostLeaders
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.node.metadata.waiters import MetadataWaiters
from logquake.node.outside import Outside
from logquake.node.producer_ids import ProducerIds
from logquake.node.replication.manager import ReplicaManager
from logquake.node.requests.acls import CreateAcls, DeleteAcls, DescribeAcls
from logquake.node.requests.add_offsets_to_txn import AddOffsetsToTxn
from logquake.node.requests.add_partitions_to_txn import AddPartitionsToTxn
from logquake.node.requests.alter_configs import AlterConfigs, IncrementalAlterConfigs
from logquake.node.requests.alter_replica_log_dirs import AlterReplicaLogDirs
from logquake.node.requests.api_table import ApiTable, unguarded
from logquake.node.requests.api_versions import ApiVersions
from logquake.node.requests.consumer_group_describe import ConsumerGroupDescribe
from logquake.node.requests.consumer_group_heartbeat import ConsumerGroupHeartbeat
from logquake.node.requests.create_partitions import CreatePartitions
from logquake.node.requests.create_topics import CreateTopics
from logquake.node.requests.delegation_tokens import (
    CreateDelegationToken,
    DescribeDelegationToken,
    ExpireDelegationToken,
    RenewDelegationToken,
)
from logquake.node.requests.delete_groups import DeleteGroups
from logquake.node.requests.delete_records import DeleteRecords
from logquake.node.requests.delete_topics import DeleteTopics
from logquake.node.requests.describe_cluster import DescribeCluster
from logquake.node.requests.describe_configs import DescribeConfigs
from logquake.node.requests.describe_groups import DescribeGroups
from logquake.node.requests.describe_log_dirs import DescribeLogDirs
from logquake.node.requests.describe_producers import DescribeProducers
from logquake.node.requests.describe_transactions import DescribeTransactions
from logquake.node.requests.downward import DownConversion
from logquake.node.requests.elect_leaders import ElectLeaders
from logquake.node.requests.end_txn import EndTxn
from logquake.node.requests.envelope import Envelope
from logquake.node.requests.fetch import Fetch
from logquake.node.requests.find_coordinator import FindCoordinator
from logquake.node.requests.for_controller import (
    AllocateProducerIds,
    AlterPartition,
    ControlledShutdown,
)
from logquake.node.requests.from_controller import LeaderAndIsr, StopReplica, UpdateMetadata
from logquake.node.requests.guard import Guard
from logquake.node.requests.heartbeat import Heartbeat
from logquake.node.requests.init_producer_id import InitProducerId
from logquake.node.requests.join_group import JoinGroup
from logquake.node.requests.leave_group import LeaveGroup
from logquake.node.requests.list_groups import ListGroups
from logquake.node.requests.list_offsets import ListOffsets
from logquake.node.requests.list_transactions import ListTransactions
from logquake.node.requests.metadata import Metadata
from logquake.node.requests.offset_commit import OffsetCommit
from logquake.node.requests.offset_delete import OffsetDelete
from logquake.node.requests.offset_fetch import OffsetFetch
from logquake.node.requests.offset_for_leader_epoch import OffsetForLeaderEpoch
from logquake.node.requests.produce import Produce
from logquake.node.requests.sasl import SaslAuthenticate, SaslHandshake
from logquake.node.requests.sync_group import SyncGroup
from logquake.node.requests.txn_offset_commit import TxnOffsetCommit
from logquake.node.requests.user_scram_credentials import (
    AlterUserScramCredentials,
    DescribeUserScramCredentials,
)
from logquake.node.requests.write_txn_markers import WriteTxnMarkers
from logquake.node.requests.zookeeper_offsets import ZooKeeperOffsets
from logquake.node.settings import BrokerSettings
from logquake.node.topics.auto_creation import AutoTopicCreation
from logquake.node.topics.config_handler import TopicConfigHandler
from logquake.node.topics.configs import TopicConfigs
from logquake.storage.dirs.log_dir import LogDirOptions
from logquake.storage.dirs.log_dirs import LogDirs
from logquake.storage.segments.open_files import OpenFiles
from logquake.zk.operations import Session
from logquake.zk.znodes.brokers import BrokerRegistration
from logquake.zk.znodes.configs import EntityConfig


@dataclass(frozen=True, slots=True)
class Membership:
    """What ZooKeeper said before the broker could be put together."""

    cluster_id: str
    topic_overrides: Mapping[str, EntityConfig]
    broker_defaults: Mapping[str, str]
    broker_overrides: Mapping[str, str]
    users: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a running broker's shell talks to."""

    api: ApiTable
    replicas: ReplicaManager
    controller: Controller
    controller_link: ControllerLink
    controller_requests: ControllerRequests
    registrar: Registrar
    first_orders: FirstOrders
    groups: GroupCoordinator
    lost_leaders: LostLeaders
    config_changes: ConfigChanges
    log_dirs: LogDirs
    acls: BrokerAcls | None  # None without an authorizer
    tokens: DelegationTokens

    def close(self) -> None:
        self.controller.close()
        self.controller_link.close()
        self.lost_leaders.close()
        self.groups.close()
        self.replicas.close()
        self.log_dirs.close(clean=True)


class Composer:
    """Makes the parts of one broker, each once."""

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
        self._configs = TopicConfigs(
            session,
            settings.replication.topic_defaults,
            membership.topic_overrides,
            outside.journal,
        )

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
        replicas = ReplicaManager(
            settings.broker_id,
            settings.replication,
            log_dirs=log_dirs,
            scheduler=outside.scheduler,
            workers=outside.workers,
            network=outside.network,
            journal=outside.journal,
            random=outside.random,
            metadata=self._cache,
            broker_epoch=lambda: registrar.broker_epoch,
            controller=requests,
            on_log_dir_failed=self._log_dir_notice().send,
            on_last_log_dir_failed=on_refused,
        )
        replicas.start()
        groups = self._group_coordinator(replicas)
        self._follow_configuration(controller, replicas)
        tokens = self._tokens(controller)
        api = self._api(registrar, controller, link, requests, replicas, groups, tokens)
        first_orders = FirstOrders(
            settings.broker_id,
            self._cache,
            self._waiters,
            lambda: replicas.state_changes.has_orders,
        )
        return Parts(
            api,
            replicas,
            controller,
            link,
            requests,
            registrar,
            first_orders,
            groups,
            self._lost_leaders,
            self._config_changes(controller, replicas),
            log_dirs,
            self._acls,
            tokens,
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

    def _broker_acls(self) -> BrokerAcls | None:
        settings, outside = self._settings.authorizer, self._outside
        if not settings.is_enabled:
            return None
        return BrokerAcls(
            AclAuthorizer(settings), self._session, outside.scheduler, outside.journal
        )

    def _follow_configuration(self, controller: Controller, replicas: ReplicaManager) -> None:
        """What changes at run time reaches those who obey it."""

        def obey(_before: BrokerSettings, after: BrokerSettings) -> None:
            self._configs.change_defaults(after.replication.topic_defaults)
            replicas.reconfigure(after.replication, self._configs.get)
            controller.reconfigure(after.controller)

        self._config.follow(obey)

    def _config_changes(self, controller: Controller, replicas: ReplicaManager) -> ConfigChanges:
        topics = TopicConfigHandler(
            self._configs, replicas.update_topic_config, controller.enable_unclean_election
        )
        return ConfigChanges(
            self._session,
            self._outside.scheduler,
            self._outside.journal,
            {
                "topics": topics,
                "brokers": BrokerConfigHandler(self._config),
                **self._user_handlers(),
            },
        )

    def _user_handlers(self) -> dict[str, EntityHandler]:
        """Without SCRAM nobody here asks what users are set to."""
        if not self._settings.security.uses_scram:
            return {}
        users = ScramUsers(self._credentials, self._outside.journal)
        for name, config in self._membership.users.items():
            users(name, config)
        return {"users": users}

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

    def _group_coordinator(self, replicas: ReplicaManager) -> GroupCoordinator:
        outside = self._outside
        groups = GroupCoordinator(
            self._settings.groups,
            self._settings.offsets,
            replicas,
            self._cache,
            outside.scheduler,
            outside.workers,
            outside.journal,
        )
        groups.start()
        return groups

    def _new_uuid(self) -> str:
        return str(UUID(bytes=self._outside.random.randbytes(16), version=4))

    def _log_dir_notice(self) -> LogDirNotice:
        outside = self._outside
        return LogDirNotice(
            self._settings.broker_id, self._session, outside.scheduler, outside.journal
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

    def _api(
        self,
        registrar: Registrar,
        controller: Controller,
        link: ControllerLink,
        requests: ControllerRequests,
        replicas: ReplicaManager,
        groups: GroupCoordinator,
        tokens: DelegationTokens,
    ) -> ApiTable:
        settings, cache, waiters = self._settings, self._cache, self._waiters
        cluster_id = self._membership.cluster_id

        def broker_epoch() -> int:
            return registrar.broker_epoch

        producer_ids = ProducerIds(
            settings.broker_id,
            broker_epoch,
            requests,
            self._outside.scheduler,
            timeout_ms=settings.request_timeout_ms,
        )
        transactions = compose_transactions(
            settings.broker_id,
            settings.transactions,
            self._outside,
            cache,
            replicas,
            producer_ids.next,
        )
        auto_creation = AutoTopicCreation(settings.auto_creation, link, self._outside.scheduler)
        first_metadata = FirstMetadata(cache, waiters, settings.first_metadata_max_wait_ms)
        lost_leaders, authorizer = self._lost_leaders, self._authorizer
        between_brokers = settings.listeners.inter_broker
        loggers = Loggers(settings.broker_id)
        config_admin = ConfigAdmin(self._config, loggers, self._session, cache.has_topic)
        in_zookeeper = ZooKeeperOffsets(self._session, settings.offsets.max_metadata_size)
        protocols = {e.listener: e.security_protocol for e in settings.listeners.listeners}
        scram_administration = ScramAdministration(self._session)
        api = ApiTable(
            [
                Produce(
                    replicas.appends,
                    replicas.transactional_appends,
                    cache,
                    settings.produce_pipelining,
                    authorizer,
                ),
                Fetch(
                    replicas.sessions,
                    replicas.fetches,
                    cache,
                    DownConversion(replicas, self._outside.workers, settings.down_conversion),
                    authorizer,
                    max_bytes=settings.fetch_max_bytes,
                ),
                ListOffsets(replicas, authorizer),
                Metadata(
                    cluster_id, cache, first_metadata, lost_leaders, auto_creation, authorizer
                ),
                LeaderAndIsr(replicas.state_changes, self._configs, broker_epoch),
                StopReplica(replicas.state_changes, broker_epoch),
                UpdateMetadata(
                    replicas.state_changes,
                    cache,
                    waiters,
                    lost_leaders,
                    self._configs,
                    groups.offsets,
                    broker_epoch,
                ),
                ControlledShutdown(controller),
                FindCoordinator(cache, auto_creation, authorizer),
                CreateTopics(
                    controller, cache, waiters, authorizer, between_brokers=between_brokers
                ),
                DeleteTopics(
                    controller,
                    cache,
                    waiters,
                    authorizer,
                    is_enabled=settings.controller.delete_topic_enable,
                ),
                CreatePartitions(controller, cache, waiters, authorizer),
                ElectLeaders(controller, cache, waiters, self._outside.scheduler),
                DeleteRecords(replicas.deletions, cache, authorizer),
                InitProducerId(producer_ids, transactions, authorizer),
                AddPartitionsToTxn(transactions, cache, authorizer),
                AddOffsetsToTxn(
                    transactions,
                    cache,
                    settings.auto_creation.internal[GROUP_METADATA_TOPIC].partitions,
                    authorizer,
                ),
                EndTxn(transactions, authorizer),
                DescribeTransactions(transactions, authorizer),
                ListTransactions(transactions, authorizer),
                OffsetForLeaderEpoch(replicas, authorizer),
                AlterPartition(controller),
                DescribeAcls(self._acls),
                CreateAcls(self._acls),
                DeleteAcls(self._acls),
                CreateDelegationToken(tokens, authorizer, protocols),
                RenewDelegationToken(tokens, authorizer, protocols),
                ExpireDelegationToken(tokens, authorizer, protocols),
                DescribeDelegationToken(tokens, authorizer, protocols),
                DescribeUserScramCredentials(scram_administration),
                AlterUserScramCredentials(scram_administration, controller, authorizer),
                DescribeCluster(cluster_id, cache, first_metadata, authorizer),
                AllocateProducerIds(controller),
                AlterReplicaLogDirs(replicas.moves),
                DescribeLogDirs(replicas.log_dir_sizes, self._outside.workers),
                WriteTxnMarkers(
                    replicas,
                    groups.offsets,
                    self._outside.scheduler,
                    timeout_ms=settings.request_timeout_ms,
                ),
                DescribeProducers(replicas, cache, authorizer),
                JoinGroup(groups.members, self._new_uuid),
                SyncGroup(groups.members),
                Heartbeat(groups.members),
                LeaveGroup(groups.members),
                DescribeGroups(groups.members, authorizer),
                ListGroups(groups.members, authorizer),
                DeleteGroups(groups.members, authorizer),
                ConsumerGroupHeartbeat(),
                ConsumerGroupDescribe(),
                OffsetCommit(
                    groups.offsets, in_zookeeper, cache, self._outside.scheduler, authorizer
                ),
                OffsetFetch(groups.offsets, in_zookeeper, cache, authorizer),
                OffsetDelete(groups.offsets, cache, authorizer),
                TxnOffsetCommit(groups.offsets, cache, self._outside.scheduler, authorizer),
                SaslHandshake(),
                SaslAuthenticate(),
                DescribeConfigs(self._config, loggers, self._session, cache, authorizer),
                AlterConfigs(config_admin, authorizer),
                IncrementalAlterConfigs(config_admin, authorizer),
            ],
            around=unguarded if self._acls is None else Guard(authorizer).around,
        )
        api.add(ApiVersions(api))
        api.add(
            Envelope(
                api,
                controller,
                authorizer,
                is_enabled=settings.forwarding_enabled,
                privileged=between_brokers,
            )
        )
        return api
