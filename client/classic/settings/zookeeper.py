"""The ZooKeeper keys that producers and consumers share (kafka.utils.ZKConfig)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from logquake.client.settings.keys import key
from logquake.client.settings.kinds import Text, integer

SESSION_TIMEOUT_MS = 6_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ZooKeeperKeys:
    # Servers, followed by the cluster's chroot.
    zookeeper_connect: str = key("", Text())
    # A consumer that ZooKeeper has not heard from for that long loses its partitions.
    zookeeper_session_timeout_ms: int = key(SESSION_TIMEOUT_MS, integer(1))
    # By default the session's.
    zookeeper_connection_timeout_ms: int = key(SESSION_TIMEOUT_MS, integer(1))
    # How far a ZooKeeper server may lag behind its leader.
    zookeeper_sync_time_ms: int = key(2_000, integer(0))

    @staticmethod
    def settle_zookeeper(given: dict[str, Any]) -> None:
        session_ms = given.get("zookeeper_session_timeout_ms", SESSION_TIMEOUT_MS)
        given.setdefault("zookeeper_connection_timeout_ms", session_ms)
