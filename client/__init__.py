"""Kafka's clients.

`logquake.client` exports the clients whose calls block, `logquake.client.aio` those whose calls are
awaited on asyncio's loop.

The clients, and what each of them is:

    sync/, aio/       the clients for programs: calls that block, calls that are awaited
    producer/         records gathered in batches, and sent; the core
    consumer/         assignment in a group, fetching, positions and commits; the core
    admin/            describing and changing a cluster; the core
    classic/          the clients of Kafka 0.8
    connection.py     a blocking connection to one broker, for what only that broker can say

What they are built on:

    assembling.py     makes what every client needs from its configuration
    settings/         the configuration, under Kafka's names
    tls_and_sasl.py   TLS and SASL from that configuration
    network/          connections, versions and metadata, without I/O
    driving/          drivers: they wait, and move bytes, for a core
    clock.py          time, so that tests need none
    errors.py         what can go wrong, with Kafka's names for it
    isolation.py      read_uncommitted and read_committed
    measures.py       rates, averages and maxima for statistics

Between a client and its program:

    arguments.py      checks what a program passes in, in the program's own call
    pending.py        the outcome of a part of a call, before anybody waits for it
    telling.py        runs the program's callbacks, in order
    callbacks.py      which of their errors end their caller
    unclosed.py       warns of clients that were never closed
    lazy_exports.py   the names of a package, each loaded when it is first used

Caveats of connection.py: threads may not share a connection, and it blocks while it looks names
up.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from logquake.client.lazy_exports import lazily

if TYPE_CHECKING:
    from logquake.client.consumer.assignors.assignor import Assignor as Assignor
    from logquake.client.consumer.assignors.assignor import Held as Held
    from logquake.client.consumer.assignors.assignor import RebalanceProtocol as RebalanceProtocol
    from logquake.client.consumer.assignors.subscriptions import Subscription as Subscription
    from logquake.client.consumer.deserializing import Deserializer as Deserializer
    from logquake.client.consumer.deserializing import DeserializerOfTopics as DeserializerOfTopics
    from logquake.client.consumer.fetch.batches import StoredBatch as StoredBatch
    from logquake.client.consumer.group.listener import RebalanceListener as RebalanceListener
    from logquake.client.consumer.group.statistics import GroupEvent as GroupEvent
    from logquake.client.consumer.group.statistics import GroupEventKind as GroupEventKind
    from logquake.client.consumer.interceptors import ConsumerInterceptor as ConsumerInterceptor
    from logquake.client.consumer.offsets import ConsumerGroupMetadata as ConsumerGroupMetadata
    from logquake.client.consumer.offsets import OffsetAndMetadata as OffsetAndMetadata
    from logquake.client.consumer.positions.offset_lists import (
        OffsetAndTimestamp as OffsetAndTimestamp,
    )
    from logquake.client.consumer.records import ConsumerRecord as ConsumerRecord
    from logquake.client.consumer.records import ConsumerRecords as ConsumerRecords
    from logquake.client.network.effects import Node as Node
    from logquake.client.network.partitions import PartitionNodes as PartitionNodes
    from logquake.client.producer.appending.interceptors import (
        ProducerInterceptor as ProducerInterceptor,
    )
    from logquake.client.producer.appending.serializing import Serializer as Serializer
    from logquake.client.producer.delivery import RecordMetadata as RecordMetadata
    from logquake.client.producer.leaders import PartitionsOfTopic as PartitionsOfTopic
    from logquake.client.producer.partitioning import Partitioner as Partitioner
    from logquake.client.producer.record import ProducerRecord as ProducerRecord
    from logquake.client.producer.statistics import EventKind as EventKind
    from logquake.client.producer.statistics import ProducerEvent as ProducerEvent
    from logquake.client.sync.admin import Admin as Admin
    from logquake.client.sync.consumer import Consumer as Consumer
    from logquake.client.sync.futures import Future as Future
    from logquake.client.sync.producer import Producer as Producer
    from logquake.wire.records.header import BatchHeader as BatchHeader
    from logquake.wire.topic_partition import TopicPartition as TopicPartition

# What clients log goes where the program wants it to go, and else nowhere.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# Loaded when they are asked for: brokers and tools that use one module of this room need no more.
_HANDED_OUT = {
    "Admin": "logquake.client.sync.admin",
    "Assignor": "logquake.client.consumer.assignors.assignor",
    "BatchHeader": "logquake.wire.records.header",
    "Consumer": "logquake.client.sync.consumer",
    "ConsumerGroupMetadata": "logquake.client.consumer.offsets",
    "ConsumerInterceptor": "logquake.client.consumer.interceptors",
    "ConsumerRecord": "logquake.client.consumer.records",
    "ConsumerRecords": "logquake.client.consumer.records",
    "Deserializer": "logquake.client.consumer.deserializing",
    "DeserializerOfTopics": "logquake.client.consumer.deserializing",
    "EventKind": "logquake.client.producer.statistics",
    "Future": "logquake.client.sync.futures",
    "GroupEvent": "logquake.client.consumer.group.statistics",
    "GroupEventKind": "logquake.client.consumer.group.statistics",
    "Held": "logquake.client.consumer.assignors.assignor",
    "Node": "logquake.client.network.effects",
    "OffsetAndMetadata": "logquake.client.consumer.offsets",
    "OffsetAndTimestamp": "logquake.client.consumer.positions.offset_lists",
    "PartitionNodes": "logquake.client.network.partitions",
    "Partitioner": "logquake.client.producer.partitioning",
    "PartitionsOfTopic": "logquake.client.producer.leaders",
    "Producer": "logquake.client.sync.producer",
    "ProducerEvent": "logquake.client.producer.statistics",
    "ProducerInterceptor": "logquake.client.producer.appending.interceptors",
    "ProducerRecord": "logquake.client.producer.record",
    "RebalanceListener": "logquake.client.consumer.group.listener",
    "RebalanceProtocol": "logquake.client.consumer.assignors.assignor",
    "RecordMetadata": "logquake.client.producer.delivery",
    "Serializer": "logquake.client.producer.appending.serializing",
    "StoredBatch": "logquake.client.consumer.fetch.batches",
    "Subscription": "logquake.client.consumer.assignors.subscriptions",
    "TopicPartition": "logquake.wire.topic_partition",
}

__all__ = sorted(_HANDED_OUT)  # noqa: PLE0605 - for a star import; each is loaded then
__getattr__, __dir__ = lazily(__name__, _HANDED_OUT)
