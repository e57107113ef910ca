"""How a client uses the network, under Kafka's names (CommonClientConfigs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    # client.id: identifies us in brokers' logs and quotas.
    client_id: str = "logquake"
    # request.timeout.ms: a request unanswered for that long ends its connection. If less than a
    # broker's own waits (a Fetch's, a Produce's for followers), every slow request looks lost.
    request_timeout_ms: int = 30_000
    # max.in.flight.requests.per.connection: the producer's default. More help with high latency,
    # but a lost connection then leaves more requests of unknown fate.
    max_in_flight_requests: int = 5
    # reconnect.backoff.ms and its .max: how long to wait before connecting to a broker again.
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    # socket.connection.setup.timeout.ms and its .max: for the connection, the TLS handshake and
    # the login. Short ones detect a dead address sooner, but may give up on a live one that is
    # far away or busy.
    connection_setup_timeout_ms: int = 10_000
    connection_setup_timeout_max_ms: int = 30_000
    # connections.max.idle.ms: less than the brokers' own, so that we close first.
    connections_max_idle_ms: int = 540_000
    # logquake.max.response.bytes: the size limit of a response without records. Kafka's clients
    # accept any announced size. Memory grows with the bytes received, to a few times as much once
    # decoded, and this limits it, whoever the peer may be. Metadata of 500,000 partitions with
    # three replicas has 25 MB.
    max_response_bytes: int = 32 * 1024 * 1024
    # The versions to assume of brokers, first and last by API key; None asks each broker
    # (KIP-35). A broker that does not support them closes the connection without an error.
    known_versions: Mapping[int, tuple[int, int]] | None = None
