"""The keys that bound connections."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.node.net.limits import ConnectionLimits, ListenerLimits
from logquake.node.settings.errors import SettingsError
from logquake.node.settings.reader import ListenerReader, PropertyReader, refusal
from logquake.wire.listeners import ListenerName

_MAX_REQUEST = "socket.request.max.bytes"
_MAX_CONNECTIONS = "max.connections"
_MAX_RATE = "max.connection.creation.rate"
_OVERRIDES = "max.connections.per.ip.overrides"


def read_connection_limits(
    reader: PropertyReader, listeners: Iterable[ListenerName] = ()
) -> ConnectionLimits:
    default = ConnectionLimits()
    max_request_bytes = reader.integer(_MAX_REQUEST, default.max_request_bytes, minimum=1)
    return ConnectionLimits(
        max_request_bytes=max_request_bytes,
        max_queued_bytes=_read_max_queued(reader, max_request_bytes),
        max_requests_in_progress=reader.integer(
            "logquake.connection.max.requests.in.progress",
            default.max_requests_in_progress,
            minimum=1,
        ),
        max_bytes_in_progress=reader.integer(
            "logquake.connection.max.bytes.in.progress", default.max_bytes_in_progress, minimum=1
        ),
        max_unsent_bytes=reader.integer(
            "logquake.connection.max.unsent.bytes", default.max_unsent_bytes, minimum=1
        ),
        max_idle_ms=reader.long("connections.max.idle.ms", default.max_idle_ms),
        max_connections=reader.integer(_MAX_CONNECTIONS, default.max_connections, minimum=0),
        max_connections_per_ip=reader.integer(
            "max.connections.per.ip", default.max_connections_per_ip, minimum=0
        ),
        max_connections_per_ip_overrides=_read_overrides(reader),
        max_creation_rate=reader.integer(_MAX_RATE, default.max_creation_rate, minimum=0),
        rate_windows=reader.integer("quota.window.num", default.rate_windows, minimum=1),
        rate_window_ms=1_000 * reader.integer("quota.window.size.seconds", 1, minimum=1),
        of_listeners={name: _read_listener(ListenerReader(reader, name)) for name in listeners},
        max_sasl_bytes=reader.integer(
            "sasl.server.max.receive.size", default.max_sasl_bytes, minimum=0
        ),
        max_authentication_ms=reader.integer(
            "logquake.authentication.max.ms", default.max_authentication_ms, minimum=1
        ),
        failed_authentication_delay_ms=reader.integer(
            "connection.failed.authentication.delay.ms",
            default.failed_authentication_delay_ms,
            minimum=0,
        ),
        send_buffer_bytes=reader.integer(
            "socket.send.buffer.bytes", default.send_buffer_bytes, minimum=-1
        ),
        receive_buffer_bytes=reader.integer(
            "socket.receive.buffer.bytes", default.receive_buffer_bytes, minimum=-1
        ),
    )


def _read_listener(own: ListenerReader) -> ListenerLimits:
    """By its own keys alone: those without its name hold for all listeners together."""
    default = ListenerLimits()
    return ListenerLimits(
        max_connections=own.reader.integer(
            own.own_key(_MAX_CONNECTIONS), default.max_connections, minimum=1
        ),
        max_creation_rate=own.reader.integer(
            own.own_key(_MAX_RATE), default.max_creation_rate, minimum=1
        ),
    )


def _read_overrides(reader: PropertyReader) -> dict[str, int]:
    overrides = {}
    for entry in reader.names(_OVERRIDES, []):
        host, _, count = entry.rpartition(":")
        if not host or not count.strip().isdecimal():
            raise SettingsError(refusal(_OVERRIDES, entry, "HOST:COUNT, separated by commas,"))
        overrides[host.strip()] = int(count)
    return overrides


def _read_max_queued(reader: PropertyReader, max_request_bytes: int) -> int:
    """One request of the largest size must fit in (KafkaConfig.validateValues).

    Kafka's key goes before ours, save where it is -1: no bound, which is not served.
    """
    default = max(ConnectionLimits().max_queued_bytes, max_request_bytes)
    for key, unset in (
        ("queued.max.request.bytes", -1),
        ("logquake.queued.max.request.bytes", default),
    ):
        queued = reader.long(key, unset)
        if 0 < queued < max_request_bytes:
            allowed = f"at least {_MAX_REQUEST} ({max_request_bytes})"
            raise SettingsError(refusal(key, str(queued), allowed))
        if queued > 0:
            return queued
    return default
