"""A broker's whole configuration, parsed once from Kafka's own keys.

Keys and ranges are Kafka 3.9's (KafkaConfig and the classes it defers to). Keys that begin with
``logquake.`` are this project's own. Whatever else is set is kept and told: a key of Kafka's
that has no effect here is accepted, and so is one that Kafka does not know, as Kafka does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from logquake.controller.rules.config_def import InvalidValue
from logquake.controller.settings import ControllerSettings
from logquake.node.authentication.tokens import TokenSettings
from logquake.node.authorizer.settings import AuthorizerSettings
from logquake.node.configs.broker_keys import key_of
from logquake.node.configs.password_encoder import PasswordEncoderSettings
from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.coordinators.groups.offsets.settings import OffsetSettings
from logquake.node.coordinators.transactions.settings import TransactionSettings
from logquake.node.life.controlled_shutdown import ControlledShutdownSettings
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.node.net.limits import ConnectionLimits
from logquake.node.net.links.link import LinkSettings
from logquake.node.quotas.quotas import QuotaSettings
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.requests.downward import DownConversionSettings
from logquake.node.requests.pipelining import ProducePipelining
from logquake.node.settings.authorizer import read_authorizer
from logquake.node.settings.auto_creation import read_auto_creation
from logquake.node.settings.delegation_tokens import read_delegation_tokens
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.groups import read_groups
from logquake.node.settings.listeners import ListenerSettings, read_listeners
from logquake.node.settings.network import read_connection_limits
from logquake.node.settings.offsets import read_offsets
from logquake.node.settings.passwords import read_password_encoder
from logquake.node.settings.quotas import read_quotas
from logquake.node.settings.reader import INT_MAX, SHORT_MAX, PropertyReader, refusal
from logquake.node.settings.replication import read_links, read_replication
from logquake.node.settings.security import SecuritySettings, read_security
from logquake.node.settings.topic_defaults import read_topic_defaults
from logquake.node.settings.transactions import read_transactions
from logquake.node.topics.auto_creation import AutoCreationSettings
from logquake.storage.segments.open_files import DEFAULT_LIMIT


@dataclass(frozen=True, slots=True)
class ZooKeeperSettings:
    connect: str
    # A broker silent for so long is dead to the cluster. Lower fails over sooner, and takes a long
    # pause for a death.
    session_timeout_ms: int
    # A broker that has no session for so long at its start gives up.
    connection_timeout_ms: int


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Make it with from_properties()."""

    broker_id: int
    # As they were given: what DescribeConfigs tells, and what changes are laid over. Some are
    # passwords.
    properties: Mapping[str, str] = field(repr=False)
    rack: str | None
    listeners: ListenerSettings
    security: SecuritySettings
    connections: ConnectionLimits
    produce_pipelining: ProducePipelining
    listen_backlog: int
    zookeeper: ZooKeeperSettings
    # Absolute paths: new partitions go where the fewest are, a failing disk takes its own.
    log_dirs: tuple[str, ...]
    recovery_threads: int  # of each log directory, at a start
    # Descriptors that segments keep, of all logs together; fewer cost an open() more often. It
    # never takes more than half of what the system allows the process.
    open_segments_max: int
    replication: ReplicationSettings
    links: LinkSettings
    controller: ControllerSettings
    controlled_shutdown: ControlledShutdownSettings
    auto_creation: AutoCreationSettings
    transactions: TransactionSettings
    groups: GroupSettings
    offsets: OffsetSettings
    authorizer: AuthorizerSettings
    tokens: TokenSettings
    password_encoder: PasswordEncoderSettings
    quotas: QuotaSettings
    # Envelopes are taken, by which other brokers forward what their clients ask of the controller.
    # A Kafka 3.9 in ZooKeeper mode takes them with zookeeper.metadata.migration.enable alone, and
    # else ends the connection.
    forwarding_enabled: bool
    # How long another broker may take to answer what has no other bound.
    request_timeout_ms: int
    # How long a client's Metadata waits on a broker that has just started for the controller's
    # first word; then the connection ends, and the client asks another broker.
    first_metadata_max_wait_ms: int
    # With the controller's failover_on_refusal, how long a client's Metadata waits for the
    # successor of a leader whose connection has just broken.
    lost_leader_max_wait_ms: int
    # How much later than a client a broker may notice that a leader died. Metadata for topics that
    # others lead is answered that much later; lower, and more clients are told of a dead leader,
    # which librdkafka then believes for up to a second.
    lost_leader_notice_ms: int
    # The most that one Fetch response to a client carries.
    fetch_max_bytes: int
    down_conversion: DownConversionSettings
    # The journal's file is put aside at this size; one is kept.
    journal_max_bytes: int
    # A pass of the loop that takes longer is told in the journal; nobody else is served meanwhile.
    # 0 tells of none.
    loop_busy_ms: int
    # Set, but nothing reads them: Kafka's keys of what is not built, and keys nobody knows.
    without_effect: tuple[str, ...]
    unknown: tuple[str, ...]

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> BrokerSettings:
        """Raises SettingsError for the first value that is not allowed."""
        reader = PropertyReader(properties)
        listeners = read_listeners(reader)
        topic_defaults = read_topic_defaults(reader)
        controller = _read_controller(reader, listeners, topic_defaults)
        connections = read_connection_limits(reader, [one.listener for one in listeners.listeners])
        request_timeout_ms = reader.integer("request.timeout.ms", 30_000, minimum=1)
        auto_creation = read_auto_creation(reader, controller)
        return cls(
            broker_id=_read_broker_id(reader),
            properties=dict(properties),
            rack=reader.optional("broker.rack"),
            listeners=listeners,
            security=read_security(reader, listeners),
            connections=connections,
            produce_pipelining=reader.choice(
                "logquake.produce.pipelining", ProducePipelining.IDEMPOTENT
            ),
            listen_backlog=reader.integer("socket.listen.backlog.size", 50, minimum=1),
            zookeeper=_read_zookeeper(reader),
            log_dirs=_read_log_dirs(reader),
            recovery_threads=reader.integer("num.recovery.threads.per.data.dir", 1, minimum=1),
            open_segments_max=reader.integer(
                "logquake.open.segments.max", DEFAULT_LIMIT, minimum=1
            ),
            replication=read_replication(reader, topic_defaults),
            links=read_links(
                reader,
                listeners.source_host(),
                send_buffer_bytes=connections.send_buffer_bytes,
                controller_socket_timeout_ms=controller.controller_socket_timeout_ms,
            ),
            controller=controller,
            controlled_shutdown=_read_controlled_shutdown(reader, controller),
            transactions=read_transactions(reader, request_timeout_ms),
            auto_creation=auto_creation,
            groups=read_groups(reader),
            offsets=read_offsets(
                reader, auto_creation.internal[GROUP_METADATA_TOPIC].replication_factor
            ),
            authorizer=read_authorizer(reader),
            tokens=read_delegation_tokens(reader),
            password_encoder=read_password_encoder(reader),
            quotas=read_quotas(reader),
            forwarding_enabled=reader.flag("logquake.forwarding.enable", True),
            request_timeout_ms=request_timeout_ms,
            first_metadata_max_wait_ms=reader.integer(
                "logquake.first.metadata.max.wait.ms", 1_000, minimum=0
            ),
            lost_leader_max_wait_ms=reader.integer(
                "logquake.metadata.lost.leader.max.wait.ms", 500, minimum=0
            ),
            lost_leader_notice_ms=reader.integer(
                "logquake.metadata.lost.leader.notice.ms", 5, minimum=0
            ),
            fetch_max_bytes=reader.integer("fetch.max.bytes", 57_671_680, minimum=1024),
            down_conversion=DownConversionSettings(
                max_bytes=reader.integer(
                    "logquake.downconversion.max.bytes",
                    DownConversionSettings().max_bytes,
                    minimum=0,
                )
            ),
            loop_busy_ms=reader.integer("logquake.loop.busy.ms", 50, minimum=0),
            journal_max_bytes=reader.long(
                "logquake.journal.max.bytes", 64 * 1024 * 1024, minimum=4096
            ),
            # Last, when all that is read has been asked for.
            without_effect=_known(reader),
            unknown=tuple(key for key in reader.unasked if key_of(key) is None),
        )


def _known(reader: PropertyReader) -> tuple[str, ...]:
    """Kafka's keys that nothing here reads; their values have to be of Kafka's kind all the same.

    Raises SettingsError.
    """
    known = [(name, key) for name in reader.unasked if (key := key_of(name)) is not None]
    for name, key in known:
        text = reader.optional(name)
        try:
            if text is not None:
                key.parse(text)
        except InvalidValue as invalid:
            raise SettingsError(str(invalid)) from invalid
    return tuple(name for name, _ in known)


def _read_broker_id(reader: PropertyReader) -> int:
    """Ids that ZooKeeper generates (broker.id=-1) are not built."""
    key = "broker.id"
    reader.required(key, f"a whole number from 0 to {INT_MAX}")
    return reader.integer(key, -1, minimum=0)


def _read_zookeeper(reader: PropertyReader) -> ZooKeeperSettings:
    session_timeout_ms = reader.integer("zookeeper.session.timeout.ms", 18_000, minimum=1)
    return ZooKeeperSettings(
        connect=reader.required("zookeeper.connect", "host:port[,host:port...][/chroot]"),
        session_timeout_ms=session_timeout_ms,
        connection_timeout_ms=reader.integer(
            "zookeeper.connection.timeout.ms", session_timeout_ms, minimum=1
        ),
    )


def _read_log_dirs(reader: PropertyReader) -> tuple[str, ...]:
    """Kafka's older key of one directory counts where the newer one is not set."""
    key = "log.dirs"
    fallback = reader.text("log.dir", "/tmp/kafka-logs")
    paths = [os.path.abspath(path) for path in reader.names(key, [fallback])]
    if not paths or len(set(paths)) < len(paths):
        allowed = "one or more paths, each once,"
        raise SettingsError(refusal(key, ",".join(paths), allowed))
    return tuple(paths)


def _read_controller(
    reader: PropertyReader, listeners: ListenerSettings, topic_defaults: TopicConfig
) -> ControllerSettings:
    default = ControllerSettings()
    return ControllerSettings(
        default_replication_factor=reader.integer(
            "default.replication.factor",
            default.default_replication_factor,
            minimum=1,
            maximum=SHORT_MAX,
        ),
        num_partitions=reader.integer("num.partitions", default.num_partitions, minimum=1),
        delete_topic_enable=reader.flag("delete.topic.enable", default.delete_topic_enable),
        unclean_leader_election_enable=topic_defaults.unclean_leader_election,
        auto_leader_rebalance_enable=reader.flag(
            "auto.leader.rebalance.enable", default.auto_leader_rebalance_enable
        ),
        leader_imbalance_check_interval_seconds=reader.long(
            "leader.imbalance.check.interval.seconds",
            default.leader_imbalance_check_interval_seconds,
            minimum=1,
        ),
        leader_imbalance_per_broker_percentage=reader.integer(
            "leader.imbalance.per.broker.percentage",
            default.leader_imbalance_per_broker_percentage,
            minimum=0,
        ),
        controller_socket_timeout_ms=reader.integer(
            "controller.socket.timeout.ms", default.controller_socket_timeout_ms, minimum=1
        ),
        inter_broker_listener_name=listeners.inter_broker,
        failover_on_refusal=reader.flag(
            "logquake.failover.on.refusal", default.failover_on_refusal
        ),
        failover_reconnect_backoff_ms=reader.integer(
            "logquake.failover.reconnect.backoff.ms",
            default.failover_reconnect_backoff_ms,
            minimum=1,
        ),
        failover_reconnect_backoff_max_ms=reader.integer(
            "logquake.failover.reconnect.backoff.max.ms",
            default.failover_reconnect_backoff_max_ms,
            minimum=1,
        ),
        failover_connect_timeout_ms=reader.integer(
            "logquake.failover.connect.timeout.ms", default.failover_connect_timeout_ms, minimum=1
        ),
    )


def _read_controlled_shutdown(
    reader: PropertyReader, controller: ControllerSettings
) -> ControlledShutdownSettings:
    default = ControlledShutdownSettings()
    return ControlledShutdownSettings(
        enabled=reader.flag("controlled.shutdown.enable", default.enabled),
        max_retries=reader.integer(
            "controlled.shutdown.max.retries", default.max_retries, minimum=0
        ),
        retry_backoff_ms=reader.long(
            "controlled.shutdown.retry.backoff.ms", default.retry_backoff_ms, minimum=0
        ),
        attempt_timeout_ms=controller.controller_socket_timeout_ms,
    )
