"""The configuration of a consumer (ConsumerConfig)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, ClassVar

from logquake.client.consumer.group.settings import GroupSettings
from logquake.client.consumer.settings import AskingSettings, FetchSettings, OffsetReset
from logquake.client.errors import SettingsError
from logquake.client.isolation import Isolation
from logquake.client.network.metadata import MetadataSettings
from logquake.client.network.settings import NetworkSettings
from logquake.client.settings.absent import ABSENT_FROM_ALL
from logquake.client.settings.common import CommonConfig
from logquake.client.settings.following import meant
from logquake.client.settings.keys import Absent, key
from logquake.client.settings.kinds import (
    Doing,
    Flag,
    Maybe,
    OneOf,
    Several,
    Text,
    identifier,
    integer,
    member_of,
)

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
# As Kafka's consumer has it: heartbeats and commits do not wait for one another.
_MAX_IN_FLIGHT = 100
# What a topic may be called: see Topic.validate, which instance ids are held to.
_INSTANCE_ID = Text("1 to 249 of a-z, A-Z, 0-9, . _ -", r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")
_DESERIALIZER = Doing(("deserialize",), or_function=True)
_INTERCEPTOR = Doing(("on_consume", "on_commit"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig(CommonConfig):
    client: ClassVar[str] = "a consumer"
    absent: ClassVar[Mapping[str, Absent]] = {
        **ABSENT_FROM_ALL,
        "group.protocol": Absent("brokers of 3.9 with ZooKeeper have the classic one", "classic"),
        "group.remote.assignor": Absent("it is for group.protocol=consumer"),
    }
    numbers: ClassVar[count[int]] = count(1)

    # What a record is made of; without one, keys and values are bytes.
    key_deserializer: Any = key(None, _DESERIALIZER)
    value_deserializer: Any = key(None, _DESERIALIZER)
    # Called in order with what poll() is about to return, and with what was committed.
    interceptor_classes: tuple[Any, ...] = key((), Several(_INTERCEPTOR))
    # Without a group nothing is committed, and partitions are assigned by the program.
    group_id: str | None = key(None, Maybe(identifier()))
    # A member that comes back with it in time is given what it had (KIP-345).
    group_instance_id: str | None = key(None, Maybe(_INSTANCE_ID))
    # A member that is not heard of for so long is out; brokers bound it.
    session_timeout_ms: int = key(45_000, integer())
    # Below the session's time-out, a third of it at most.
    heartbeat_interval_ms: int = key(3_000, integer())
    # A member that does not poll for so long leaves its group.
    max_poll_interval_ms: int = key(300_000, integer(1))
    # In the order of preference; the members of a group need one in common. Range comes first, so
    # that a group takes up cooperative-sticky with one rolling restart, which drops range.
    partition_assignment_strategy: tuple[Any, ...] = key(
        ("range", "cooperative-sticky"), Several(Doing(("assign",)), ASSIGNORS, may_be_none=False)
    )
    enable_auto_commit: bool = key(True, Flag())
    auto_commit_interval_ms: int = key(5_000, integer(0))
    # Where to begin without an offset that was committed, or that still is there.
    auto_offset_reset: OffsetReset = key(OffsetReset.LATEST, member_of(OffsetReset))
    isolation_level: Isolation = key(
        Isolation.READ_UNCOMMITTED, OneOf({level.name.lower(): level for level in Isolation})
    )
    # Of one poll(); what was fetched beyond it waits for the next.
    max_poll_records: int = key(500, integer(1))
    # A broker answers a Fetch once it has so much, or after so long.
    fetch_min_bytes: int = key(1, integer(0))
    fetch_max_wait_ms: int = key(500, integer(0))
    # Of an answer, and of a partition in it; a batch that is larger comes all the same.
    fetch_max_bytes: int = key(50 * 1024 * 1024, integer(0))
    max_partition_fetch_bytes: int = key(1024 * 1024, integer(0))
    check_crcs: bool = key(True, Flag())
    # A key of our own: what one batch may decompress to, since a few bytes may say that they are
    # terabytes. A batch that is more is corrupt to this consumer; Kafka's take what there is. An
    # answer may be as large, whatever was asked for: its first batch comes whole.
    logquake_max_decompressed_bytes: int = key(128 * 1024 * 1024, integer(1))
    # Where this client is: followers there may serve it (KIP-392).
    client_rack: str = key("", identifier())
    # Whether a pattern may match topics such as __consumer_offsets.
    exclude_internal_topics: bool = key(True, Flag())
    # Whether brokers may create what is subscribed to, if they do such a thing.
    allow_auto_create_topics: bool = key(True, Flag())
    # For an operation with all its retries.
    default_api_timeout_ms: int = key(60_000, integer(0))

    def network(self) -> NetworkSettings:
        return replace(CommonConfig.network(self), max_in_flight_requests=_MAX_IN_FLIGHT)

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        CommonConfig.settle(given)
        group = given.get("group_id")
        if group is None:
            if given.setdefault("enable_auto_commit", False):
                raise SettingsError("enable.auto.commit=true needs a group.id to commit for")
        else:
            _check_heartbeat(given)
        if not given.get("client_id"):
            number = given.get("group_instance_id") or next(cls.numbers)
            given["client_id"] = f"consumer-{'null' if group is None else group}-{number}"

    def metadata(self) -> MetadataSettings:
        common = CommonConfig.metadata(self)
        return replace(common, creates_topics=self.allow_auto_create_topics)

    def fetching(self) -> FetchSettings:
        return FetchSettings(
            isolation=self.isolation_level,
            min_bytes=self.fetch_min_bytes,
            max_wait_ms=self.fetch_max_wait_ms,
            max_bytes=self.fetch_max_bytes,
            partition_max_bytes=self.max_partition_fetch_bytes,
            max_response_bytes=self.logquake_max_response_bytes,
            max_poll_records=self.max_poll_records,
            check_crcs=self.check_crcs,
            max_decompressed_bytes=self.logquake_max_decompressed_bytes,
            rack=self.client_rack,
            preferred_replica_ms=self.metadata_max_age_ms,
            retry_backoff_ms=self.retry_backoff_ms,
        )

    def asking(self) -> AskingSettings:
        return AskingSettings(
            isolation=self.isolation_level,
            request_timeout_ms=self.request_timeout_ms,
            retry_backoff_ms=self.retry_backoff_ms,
            retry_backoff_max_ms=self.retry_backoff_max_ms,
            creates_topics=self.allow_auto_create_topics,
        )

    def membership(self) -> GroupSettings | None:
        """None without a group."""
        if self.group_id is None:
            return None
        return GroupSettings(
            group_id=self.group_id,
            instance_id=self.group_instance_id,
            session_timeout_ms=self.session_timeout_ms,
            heartbeat_interval_ms=self.heartbeat_interval_ms,
            max_poll_interval_ms=self.max_poll_interval_ms,
            retry_backoff_ms=self.retry_backoff_ms,
            retry_backoff_max_ms=self.retry_backoff_max_ms,
            request_timeout_ms=self.request_timeout_ms,
            auto_commit_interval_ms=(
                self.auto_commit_interval_ms if self.enable_auto_commit else None
            ),
            rack=self.client_rack,
        )


def _check_heartbeat(given: dict[str, Any]) -> None:
    """org.apache.kafka.clients.consumer.internals.Heartbeat."""
    interval_ms = meant(ConsumerConfig, given, "heartbeat_interval_ms")
    session_ms = meant(ConsumerConfig, given, "session_timeout_ms")
    if interval_ms >= session_ms:
        raise SettingsError(
            f"heartbeat.interval.ms={interval_ms} is not allowed: "
            f"less than session.timeout.ms, {session_ms}, is"
        )
