"""The replica.* keys, the two rules that Kafka holds them to, and connections to other brokers."""

from __future__ import annotations

from logquake.node.net.links.connector import Address, ConnectSettings
from logquake.node.net.links.link import LinkSettings
from logquake.node.replication.settings import ReplicationSettings, TopicConfig
from logquake.node.settings.cleaner import read_cleaner
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.quotas import read_windows
from logquake.node.settings.reader import PropertyReader, refusal
from logquake.node.settings.topic_defaults import read_flush_scheduler_interval_ms

_SOCKET_TIMEOUT = ("replica.socket.timeout.ms", 30_000)
_FETCH_WAIT = "replica.fetch.wait.max.ms"
_LAG_TIME = "replica.lag.time.max.ms"
_ROUTES = "logquake.network.routes"
_MAX_PORT = 65535


def read_replication(reader: PropertyReader, topic_defaults: TopicConfig) -> ReplicationSettings:
    default = ReplicationSettings()
    settings = ReplicationSettings(
        replica_lag_time_max_ms=reader.long(_LAG_TIME, default.replica_lag_time_max_ms, minimum=1),
        replica_fetch_wait_max_ms=reader.integer(
            _FETCH_WAIT, default.replica_fetch_wait_max_ms, minimum=0
        ),
        replica_fetch_min_bytes=reader.integer(
            "replica.fetch.min.bytes", default.replica_fetch_min_bytes, minimum=0
        ),
        replica_fetch_max_bytes=reader.integer(
            "replica.fetch.max.bytes", default.replica_fetch_max_bytes, minimum=0
        ),
        replica_fetch_response_max_bytes=reader.integer(
            "replica.fetch.response.max.bytes",
            default.replica_fetch_response_max_bytes,
            minimum=0,
        ),
        replica_fetch_backoff_ms=reader.integer(
            "replica.fetch.backoff.ms", default.replica_fetch_backoff_ms, minimum=0
        ),
        new_leader_fetch_backoff_ms=reader.integer(
            "logquake.replica.fetch.new.leader.backoff.ms",
            default.new_leader_fetch_backoff_ms,
            minimum=0,
        ),
        new_leader_fetch_wait_ms=reader.integer(
            "logquake.replica.fetch.new.leader.wait.ms",
            default.new_leader_fetch_wait_ms,
            minimum=0,
        ),
        new_leader_fetch_partitions_max=reader.integer(
            "logquake.replica.fetch.new.leader.partitions.max",
            default.new_leader_fetch_partitions_max,
            minimum=0,
        ),
        high_watermark_checkpoint_interval_ms=reader.long(
            "replica.high.watermark.checkpoint.interval.ms",
            default.high_watermark_checkpoint_interval_ms,
            minimum=1,
        ),
        log_flush_scheduler_interval_ms=read_flush_scheduler_interval_ms(reader),
        recovery_point_checkpoint_interval_ms=reader.integer(
            "log.flush.offset.checkpoint.interval.ms",
            default.recovery_point_checkpoint_interval_ms,
            minimum=0,
        ),
        log_start_checkpoint_interval_ms=reader.integer(
            "log.flush.start.offset.checkpoint.interval.ms",
            default.log_start_checkpoint_interval_ms,
            minimum=0,
        ),
        deletion_checkpoint_delay_ms=reader.integer(
            "logquake.log.deletion.checkpoint.delay.ms",
            default.deletion_checkpoint_delay_ms,
            minimum=0,
        ),
        retention_check_interval_ms=reader.long(
            "log.retention.check.interval.ms", default.retention_check_interval_ms, minimum=1
        ),
        initial_task_delay_ms=reader.long(
            "log.initial.task.delay.ms", default.initial_task_delay_ms, minimum=0
        ),
        producer_expiration_check_interval_ms=reader.integer(
            "producer.id.expiration.check.interval.ms",
            default.producer_expiration_check_interval_ms,
            minimum=1,
        ),
        fetch_session_slots=reader.integer(
            "max.incremental.fetch.session.cache.slots", default.fetch_session_slots, minimum=0
        ),
        verification_max_bytes=reader.integer(
            "logquake.transaction.verification.max.bytes",
            default.verification_max_bytes,
            minimum=0,
        ),
        move_threads=reader.integer("num.replica.alter.log.dirs.threads", 0, minimum=1) or None,
        move_max_bytes_per_second=reader.long(
            "replica.alter.log.dirs.io.max.bytes.per.second",
            default.move_max_bytes_per_second,
            minimum=1,
        ),
        leader_max_bytes_per_second=reader.long(
            "leader.replication.throttled.rate", default.leader_max_bytes_per_second, minimum=0
        ),
        follower_max_bytes_per_second=reader.long(
            "follower.replication.throttled.rate",
            default.follower_max_bytes_per_second,
            minimum=0,
        ),
        throttle_windows=read_windows(reader, "replication.quota.window"),
        isr_broker_epochs=reader.flag("logquake.isr.broker.epochs", default.isr_broker_epochs),
        cleaner=read_cleaner(reader),
        topic_defaults=topic_defaults,
    )
    _check_waits(settings, reader.integer(*_SOCKET_TIMEOUT, minimum=1))
    return settings


def read_links(
    reader: PropertyReader,
    source_host: str,
    *,
    send_buffer_bytes: int,
    controller_socket_timeout_ms: int,
) -> LinkSettings:
    """Connections to other brokers, which fetch from leaders, and command as the controller.

    One time-out serves both: the longer, so that neither ends what the other waits for.
    """
    default = ConnectSettings()
    return LinkSettings(
        ConnectSettings(
            source_host=source_host,
            routes=_read_routes(reader),
            send_buffer_bytes=send_buffer_bytes,
            receive_buffer_bytes=reader.integer(
                "replica.socket.receive.buffer.bytes", default.receive_buffer_bytes, minimum=-1
            ),
        ),
        request_timeout_ms=max(
            reader.integer(*_SOCKET_TIMEOUT, minimum=1),
            controller_socket_timeout_ms,
        ),
    )


def _read_routes(reader: PropertyReader) -> dict[Address, Address]:
    """Kafka has nothing of the kind: a broker dials what the other has told."""
    routes = {}
    for entry in reader.names(_ROUTES, []):
        told, _, dialled = entry.partition("=")
        routes[_read_address(entry, told)] = _read_address(entry, dialled)
    return routes


def _read_address(entry: str, text: str) -> Address:
    host, _, port = text.strip().rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) <= _MAX_PORT:
        raise SettingsError(refusal(_ROUTES, entry, "HOST:PORT=HOST:PORT, separated by commas,"))
    return host, int(port)


def _check_waits(settings: ReplicationSettings, socket_timeout_ms: int) -> None:
    """KafkaConfig.validateValues: a wait longer than these makes time-outs or ISR changes."""
    wait_ms = settings.replica_fetch_wait_max_ms
    for key, bound_ms in (
        (_SOCKET_TIMEOUT[0], socket_timeout_ms),
        (_LAG_TIME, settings.replica_lag_time_max_ms),
    ):
        if wait_ms > bound_ms:
            allowed = f"at least {_FETCH_WAIT} ({wait_ms})"
            raise SettingsError(refusal(key, str(bound_ms), allowed))
