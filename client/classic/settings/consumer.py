"""The older consumer's configuration (kafka.consumer.ConsumerConfig of 0.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from logquake.client.classic.settings.kinds import LEGAL_NAME, SIZED_BY_THE_SYSTEM
from logquake.client.classic.settings.zookeeper import ZooKeeperKeys
from logquake.client.errors import SettingsError
from logquake.client.settings.following import meant
from logquake.client.settings.keys import Absent, key, required_key
from logquake.client.settings.kinds import Flag, Maybe, Text, integer, member_of
from logquake.wire.sentinels import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP


class OffsetsStorage(Enum):
    ZOOKEEPER = "zookeeper"
    KAFKA = "kafka"


class OffsetReset(Enum):
    """Their special timestamps in ListOffsets (kafka.api.OffsetRequest)."""

    SMALLEST = "smallest"
    LARGEST = "largest"

    @property
    def time_ms(self) -> int:
        return EARLIEST_TIMESTAMP if self is OffsetReset.SMALLEST else LATEST_TIMESTAMP


class Strategy(Enum):
    RANGE = "range"
    ROUND_ROBIN = "roundrobin"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig(ZooKeeperKeys):
    client: ClassVar[str] = "the older consumer"
    absent: ClassVar[Mapping[str, Absent]] = {"socket.receive.buffer.bytes": SIZED_BY_THE_SYSTEM}

    zookeeper_connect: str = required_key(Text("host:port[,host:port...][/chroot]", r".+"))
    group_id: str = required_key(LEGAL_NAME)
    # By default made from the host, the time and a random number.
    consumer_id: str | None = key(None, Maybe(LEGAL_NAME))
    client_id: str = key("", LEGAL_NAME)  # by default the group's name
    # For the response to one request: at least fetch.wait.max.ms.
    socket_timeout_ms: int = key(30_000, integer(1))
    # Per partition and fetch. A larger message stops its stream.
    fetch_message_max_bytes: int = key(1024 * 1024, integer(1))
    num_consumer_fetchers: int = key(1, integer(1))  # for each broker
    fetch_min_bytes: int = key(1, integer(0))
    fetch_wait_max_ms: int = key(100, integer(0))
    auto_commit_enable: bool = key(True, Flag())
    auto_commit_interval_ms: int = key(60_000, integer(1))
    # Fetched and not read yet, per stream.
    queued_max_message_chunks: int = key(2, integer(1))
    rebalance_max_retries: int = key(4, integer(1))
    rebalance_backoff_ms: int = key(2_000, integer(0))  # by default zookeeper.sync.time.ms
    refresh_leader_backoff_ms: int = key(200, integer(0))
    offsets_channel_backoff_ms: int = key(1_000, integer(0))
    offsets_channel_socket_timeout_ms: int = key(10_000, integer(1))
    # For a commit at the end; those by interval are not retried.
    offsets_commit_max_retries: int = key(5, integer(0))
    offsets_storage: OffsetsStorage = key(
        OffsetsStorage.ZOOKEEPER, member_of(OffsetsStorage, in_any_case=True)
    )
    # In both, during a migration from ZooKeeper to Kafka; by default if Kafka stores them.
    dual_commit_enabled: bool = key(False, Flag())
    # If nothing is committed, or the committed offset is gone.
    auto_offset_reset: OffsetReset = key(OffsetReset.LARGEST, member_of(OffsetReset))
    # If negative, a stream waits for ever.
    consumer_timeout_ms: int = key(-1, integer())
    exclude_internal_topics: bool = key(True, Flag())
    partition_assignment_strategy: Strategy = key(Strategy.RANGE, member_of(Strategy))

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        cls.settle_zookeeper(given)
        given.setdefault("rebalance_backoff_ms", meant(cls, given, "zookeeper_sync_time_ms"))
        given["client_id"] = given.get("client_id") or given["group_id"]
        given.setdefault(
            "dual_commit_enabled", meant(cls, given, "offsets_storage") is OffsetsStorage.KAFKA
        )
        if meant(cls, given, "fetch_wait_max_ms") > meant(cls, given, "socket_timeout_ms"):
            raise SettingsError(
                "socket.timeout.ms is less than fetch.wait.max.ms: answers would come too late"
            )
