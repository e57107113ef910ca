"""The keys of ZooKeeper that producers and consumers share (kafka.utils.ZKConfig)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logquake.client.settings.keys import key
from logquake.client.settings.kinds import Text, integer

SESSION_TIMEOUT_MS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperKeys:
    # Servers, and behind them the cluster's chroot.
    zookeeper_connect: str = key("", Text())
    # A consumer that ZooKeeper has not heard of for so long loses its partitions.
    zookeeper_session_timeout_ms: int = key(SESSION_TIMEOUT_MS, integer(1))
    # As long as the session's, if it is not set.
    zookeeper_connection_timeout_ms: int = key(SESSION_TIMEOUT_MS, integer(1))
    # How far a server of ZooKeeper's may be behind its leader.
    zookeeper_sync_time_ms: int = key(2_000, integer(0))

    @staticmethod
    def settle_zookeeper(given: dict[str, Any]) -> None:
        session_ms = given.get("zookeeper_session_timeout_ms", SESSION_TIMEOUT_MS)
        given.setdefault("zookeeper_connection_timeout_ms", session_ms)
