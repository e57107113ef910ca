"""The older producer's configuration (kafka.producer.ProducerConfig of 0.8, and 0.7's hooks)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from logquake.client.classic.settings.kinds import (
    CODECS,
    LEGAL_NAME,
    SIZED_BY_THE_SYSTEM,
    BrokerList,
    Names,
)
from logquake.client.classic.settings.zookeeper import ZooKeeperKeys
from logquake.client.errors import SettingsError
from logquake.client.settings.addresses import Address
from logquake.client.settings.following import meant
from logquake.client.settings.keys import Absent, key
from logquake.client.settings.kinds import INT_MAX, Given, OneOf, integer, member_of
from logquake.wire.compression import Codec


class ProducerType(Enum):
    SYNC = "sync"
    ASYNC = "async"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerConfig(ZooKeeperKeys):
    client: ClassVar[str] = "the older producer"
    absent: ClassVar[Mapping[str, Absent]] = {"send.buffer.bytes": SIZED_BY_THE_SYSTEM}

    # Asked for metadata in random order; or use zookeeper.connect, which lists all brokers.
    metadata_broker_list: tuple[Address, ...] = key((), BrokerList())
    client_id: str = key("", LEGAL_NAME)
    # Which replicas must have a message before it is acknowledged: 0, the default, is none, so
    # losses go unnoticed; 1 is the leader; -1 all in-sync replicas.
    request_required_acks: int = key(0, integer(-1, 1))
    request_timeout_ms: int = key(10_000, integer(1))
    # async: send() puts messages into a queue, from which a thread takes them in batches.
    producer_type: ProducerType = key(ProducerType.SYNC, member_of(ProducerType))
    # The program's objects.
    serializer_class: Any = key(None, Given())
    key_serializer_class: Any = key(None, Given())  # by default the one for messages
    partitioner_class: Any = key(None, Given())
    event_handler: Any = key(None, Given())
    callback_handler: Any = key(None, Given())
    compression_codec: Codec = key(Codec.NONE, OneOf(CODECS, in_any_case=True))
    # Only these; if empty, all.
    compressed_topics: tuple[str, ...] = key((), Names())
    # Each retry first requests metadata, since the usual cause is that a leader moved.
    message_send_max_retries: int = key(3, integer(0))
    retry_backoff_ms: int = key(100, integer(0))
    # After that long, and after failures; if negative, only after failures.
    topic_metadata_refresh_interval_ms: int = key(600_000, integer())
    # A message waits that long for others, or until there are batch.num.messages.
    queue_buffering_max_ms: int = key(5_000, integer(0))
    queue_buffering_max_messages: int = key(10_000, integer(1))
    # How long send() waits if the queue is full: 0 not at all, negative for ever.
    queue_enqueue_timeout_ms: int = key(-1, integer(-INT_MAX))
    batch_num_messages: int = key(200, integer(1))

    @classmethod
    def settle(cls, given: dict[str, Any]) -> None:
        cls.settle_zookeeper(given)
        if bool(given.get("metadata_broker_list")) == bool(given.get("zookeeper_connect")):
            raise SettingsError(
                "one of metadata.broker.list (broker.list) and zookeeper.connect (zk.connect) is "
                "needed, and not both"
            )
        batch = meant(cls, given, "batch_num_messages")
        queue = meant(cls, given, "queue_buffering_max_messages")
        if batch > queue:
            raise SettingsError(
                f"batch.num.messages={batch} is larger than queue.buffering.max.messages={queue}"
            )
