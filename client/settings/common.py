"""The keys that every client has (CommonClientConfigs)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import count
from typing import Any, ClassVar

from logquake.client.network.metadata import MetadataSettings
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.absent import ABSENT_FROM_ALL
from logquake.client.settings.addresses import Address
from logquake.client.settings.keys import Absent, key, required_key
from logquake.client.settings.kinds import LONG_MAX, Servers, identifier, integer, long, member_of
from logquake.client.settings.security import SecurityConfig, settle_security


class RecoveryStrategy(Enum):
    NONE = "none"
    REBOOTSTRAP = "rebootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonConfig(SecurityConfig):
    client: ClassVar[str]
    absent: ClassVar[Mapping[str, Absent]] = ABSENT_FROM_ALL
    numbers: ClassVar[count[int]]  # for clients that are given no name

    # Asked in turn until one answers; the rest is learned from it.
    bootstrap_servers: tuple[Address, ...] = required_key(Servers())
    # What brokers call us in their logs, and count quotas by.
    client_id: str = key("", identifier())
    # A request unanswered for so long ends its connection. Below a broker's own waits (a Fetch's,
    # a Produce's for its followers) every slow request looks lost.
    request_timeout_ms: int = key(30_000, integer(0))
    # Between a failure and the next attempt; it doubles up to the second of them.
    retry_backoff_ms: int = key(100, long(0))
    retry_backoff_max_ms: int = key(1_000, long(0))
    # How long a broker that was lost is left alone; the first alone stands for both.
    reconnect_backoff_ms: int = key(50, long(0))
    reconnect_backoff_max_ms: int = key(1_000, long(0))
    # For the connection, the handshake of TLS and the login.
    socket_connection_setup_timeout_ms: int = key(10_000, long(0))
    socket_connection_setup_timeout_max_ms: int = key(30_000, long(0))
    # Below the brokers' own, so that it is we who close; -1 never closes.
    connections_max_idle_ms: int = key(540_000, long(-1))
    # A key of our own: what one answer without records may weigh, whoever may listen there. Of a
    # Fetch it comes on top of what it asked for. Kafka's clients take what is announced.
    logquake_max_response_bytes: int = key(32 * 1024 * 1024, integer(1024))
    # Brokers and partitions that nobody told us of are found after so long.
    metadata_max_age_ms: int = key(300_000, long(0))
    # Once no broker that is known can be reached, go back to those above (KIP-899). Without it a
    # client that slept while all brokers moved never finds them again; 3.9 has it so by default.
    metadata_recovery_strategy: RecoveryStrategy = key(
        RecoveryStrategy.REBOOTSTRAP, member_of(RecoveryStrategy, in_any_case=True)
    )

    # The same once no metadata has come for so long though it was wanted (KIP-1102, Kafka 4.0):
    # addresses that swallow what is sent to them can be tried for ever. A short one gives up
    # connections that serve, where brokers are merely slow to tell.
    metadata_recovery_rebootstrap_trigger_ms: int = key(300_000, long(0))

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        settle_security(given)
        if "reconnect_backoff_ms" in given:
            given.setdefault("reconnect_backoff_max_ms", given["reconnect_backoff_ms"])

    def network(self) -> NetworkSettings:
        idle_ms = self.connections_max_idle_ms
        return NetworkSettings(
            client_id=self.client_id,
            request_timeout_ms=self.request_timeout_ms,
            reconnect_backoff_ms=self.reconnect_backoff_ms,
            reconnect_backoff_max_ms=self.reconnect_backoff_max_ms,
            connection_setup_timeout_ms=self.socket_connection_setup_timeout_ms,
            connection_setup_timeout_max_ms=self.socket_connection_setup_timeout_max_ms,
            connections_max_idle_ms=LONG_MAX if idle_ms < 0 else idle_ms,
            max_response_bytes=self.logquake_max_response_bytes,
        )

    def metadata(self) -> MetadataSettings:
        return MetadataSettings(
            max_age_ms=self.metadata_max_age_ms,
            retry_backoff_ms=self.retry_backoff_ms,
            retry_backoff_max_ms=self.retry_backoff_max_ms,
            rebootstraps=self.metadata_recovery_strategy is RecoveryStrategy.REBOOTSTRAP,
            rebootstrap_trigger_ms=self.metadata_recovery_rebootstrap_trigger_ms,
        )
