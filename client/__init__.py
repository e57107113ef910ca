"""Kafka's clients, and the small blocking one of our own tools.

`logquake.client` hands out those whose calls block, `logquake.client.aio` their twins on asyncio's
loop. The tools' one has one thread, one request at a time on a connection, no background work.

    errors.py       what can go wrong, with Kafka's names for it
    settings/       what a client is set to, under Kafka's names
    clock.py        time, so that tests need none
    pending.py      what a part of a call will come to; telling.py: callbacks, in order
    measures.py     how much, how often and how long, lately
    assembling.py   what every client stands on, made from its configuration
    sync/, aio/     the clients for programs: calls that block, calls that are awaited
    network/        connections, versions, metadata, without I/O; what all of this stands on
    driving/        who waits, and how bytes travel
    connection.py   one request and its response
    routing.py      brokers, leaders, and trying again
    topics.py       the cluster and its topics
    coordinator_lookups.py how coordinators are asked for
    coordinators.py who coordinates a group or a transactional id
    groups.py       groups and their members
    commits.py      committed offsets
    offsets.py      earliest, latest, first after a time
    cursor.py       a place in a partition, and what answers hold from there
    fetching.py     one Fetch of one broker
    reader.py       a partition's records from its leader
    ranges.py       the same by a consumer: batches as they are stored
    consumer/       the consumer's pure core: who of a group reads what, and what is fetched
    classic/        the clients of Kafka's first documents
    admin/          all that an administrator asks of a cluster
    producer/       records gathered in batches, and the producer of our own tools

Caveats of the tools' one: plain text, unless it is handed a way in by TLS or SASL. It may not be
shared by threads, and names of hosts are looked up while everything else waits.
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from logquake.client.consumer.group.listener import RebalanceListener as RebalanceListener
    from logquake.client.consumer.offsets import OffsetAndMetadata as OffsetAndMetadata
    from logquake.client.sync.admin import Admin as Admin
    from logquake.client.sync.consumer import Consumer as Consumer
    from logquake.client.sync.producer import Producer as Producer
    from logquake.wire.topic_partition import TopicPartition as TopicPartition

# What clients log goes where the program wants it to go, and else nowhere.
logging.getLogger(__name__).addHandler(logging.NullHandler())

# Loaded when they are asked for: brokers and tools that use one module of this room need no more.
_HANDED_OUT = {
    "Admin": "logquake.client.sync.admin",
    "Consumer": "logquake.client.sync.consumer",
    "OffsetAndMetadata": "logquake.client.consumer.offsets",
    "Producer": "logquake.client.sync.producer",
    "RebalanceListener": "logquake.client.consumer.group.listener",
    "TopicPartition": "logquake.wire.topic_partition",
}


def __getattr__(name: str) -> Any:
    if name not in _HANDED_OUT:
        raise AttributeError(f"logquake.client has no {name}")
    return getattr(import_module(_HANDED_OUT[name]), name)
