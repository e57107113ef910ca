"""How a client uses the network, under Kafka's names (CommonClientConfigs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NetworkSettings:
    # client.id: what brokers call us in their logs, and count quotas by.
    client_id: str = "logquake"
    # request.timeout.ms: a request unanswered for so long ends its connection. Below a broker's
    # own waits (a Fetch's, a Produce's for its followers) every slow request looks lost.
    request_timeout_ms: int = 30_000
    # max.in.flight.requests.per.connection: the producer's default. More of them move more over a
    # long way, and a lost connection leaves more requests of unknown fate.
    max_in_flight_requests: int = 5
    # reconnect.backoff.ms and its .max: how long a broker that was lost is left alone.
    reconnect_backoff_ms: int = 50
    reconnect_backoff_max_ms: int = 1_000
    # socket.connection.setup.timeout.ms and its .max: for the connection, the handshake of TLS
    # and the login. Short ones find a dead address sooner, and give up on a live one that is far
    # away or busy.
    connection_setup_timeout_ms: int = 10_000
    connection_setup_timeout_max_ms: int = 30_000
    # connections.max.idle.ms: below the brokers' own, so that it is we who close.
    connections_max_idle_ms: int = 540_000
    # logquake.max.response.bytes: what one response without records may weigh. Kafka's clients take
    # what is announced; memory follows the bytes that came, a few times as much once they are
    # decoded, and this bounds them whoever may listen there. Metadata of 500,000 partitions with
    # three replicas has 25 MB.
    max_response_bytes: int = 32 * 1024 * 1024
    # What brokers are taken to speak, first and last version by API key; None asks each of them
    # (KIP-35). A broker that does not speak it closes the connection without a word.
    known_versions: Mapping[int, tuple[int, int]] | None = None
