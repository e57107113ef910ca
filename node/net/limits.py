"""The bounds that connections are held to; their keys stand in node/settings/network.py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from logquake.node.net.connection_rate import UNLIMITED
from logquake.wire.listeners import ListenerName

USE_DEFAULT_BUFFER_SIZE = -1  # Selectable.USE_DEFAULT_BUFFER_SIZE: the system's


@dataclass(frozen=True, slots=True)
class ListenerLimits:
    """What one listener is held to beside what holds for all together."""

    max_connections: int = UNLIMITED
    max_creation_rate: int = UNLIMITED


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Bounds of one connection and of all together; Kafka's defaults where Kafka has the bound."""

    # A longer request closes the connection.
    max_request_bytes: int = 104_857_600
    # Requests of one connection that were handed on and not answered. Only Produce requests are
    # handed on side by side (logquake.produce.pipelining), so this bounds how many wait for
    # followers.
    max_requests_in_progress: int = 100
    # The same in bytes: 64 MiB hold the five requests in flight of an idempotent producer at any
    # batch size in use. One request is always let through.
    max_bytes_in_progress: int = 64 * 1024 * 1024
    # Unsent response bytes at which a connection's next request waits: bounds what a client that
    # sends and does not read can pile up to this plus one response.
    max_unsent_bytes: int = 1024 * 1024
    # The memory of all connections' requests together, beyond 256 KiB each. What does not fit
    # waits.
    max_queued_bytes: int = 512 * 1024 * 1024
    # Silence after which a connection with nothing in progress closes; below zero it never does.
    max_idle_ms: int = 600_000
    # Further clients wait in the listen backlog.
    max_connections: int = UNLIMITED
    # Further connections from there are closed at once.
    max_connections_per_ip: int = UNLIMITED
    # Of single hosts, by name or address, in its place.
    max_connections_per_ip_overrides: Mapping[str, int] = field(default_factory=dict)
    # New connections a second; further ones are served later. A burst of what may come within the
    # windows (quota.window.num of quota.window.size.seconds each) passes.
    max_creation_rate: int = UNLIMITED
    rate_windows: int = 11
    rate_window_ms: int = 1_000
    of_listeners: Mapping[ListenerName, ListenerLimits] = field(default_factory=dict)
    # A longer token or request of SASL ends the connection before it is authenticated.
    max_sasl_bytes: int = 524_288
    # From the first byte to the end of authentication; longer, and the connection is closed.
    max_authentication_ms: int = 60_000
    # How long whoever fails to authenticate waits for the answer, and for the end.
    failed_authentication_delay_ms: int = 100
    # SO_SNDBUF and SO_RCVBUF.
    send_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
    receive_buffer_bytes: int = USE_DEFAULT_BUFFER_SIZE
