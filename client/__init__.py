"""Kafka's clients.

`logquake.client` hands out those whose calls block, `logquake.client.aio` their twins on asyncio's
loop.

    errors.py       what can go wrong, with Kafka's names for it
    settings/       what a client is set to, under Kafka's names; security.py: its way in
    given.py        what a program gives it, looked at in the program's own call
    signatures.py   the same of every call of the admin client, by its signature
    clock.py        time, so that tests need none
    pending.py      what a part of a call will come to; telling.py: callbacks, in order
    callbacks.py    what comes out of them: whom it ends
    measures.py     how much, how often and how long, lately
    assembling.py   what every client stands on, made from its configuration
    sync/, aio/     the clients for programs: calls that block, calls that are awaited
    producer/       records gathered in batches, and sent; the core
    consumer/       who of a group reads what, and what is fetched; the core
    admin/          all that an administrator asks of a cluster; the core
    classic/        the clients of Kafka's first documents
    network/        connections, versions, metadata, without I/O; what all of this stands on
    driving/        who waits, and how bytes travel
    ranges.py       a range of a partition, by a consumer: batches as they are stored
    handed_out.py   what programs import from here, loaded when it is asked for
    unclosed.py     what is told of one that nobody has closed
    isolation.py    what a reader sees of transactions
    coordinator_lookups.py how coordinators are asked for
    consumers.py, partitions.py what a consumer is founded on; a topic's partitions
    connection.py   one broker, one request and its response: what only that broker can say

Caveats of a connection: it may not be shared by threads, and names of hosts are looked up while
everything else waits.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from logquake.client.handed_out import lazily

if TYPE_CHECKING:
    from logquake.client.consumer.group.listener import RebalanceListener as RebalanceListener
    from logquake.client.consumer.offsets import OffsetAndMetadata as OffsetAndMetadata
    from logquake.client.consumer.programs_own import ConsumerInterceptor as ConsumerInterceptor
    from logquake.client.producer.interceptors import ProducerInterceptor as ProducerInterceptor
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
    "ConsumerInterceptor": "logquake.client.consumer.programs_own",
    "OffsetAndMetadata": "logquake.client.consumer.offsets",
    "Producer": "logquake.client.sync.producer",
    "ProducerInterceptor": "logquake.client.producer.interceptors",
    "RebalanceListener": "logquake.client.consumer.group.listener",
    "TopicPartition": "logquake.wire.topic_partition",
}

__all__ = sorted(_HANDED_OUT)  # noqa: PLE0605 - for a star import; each is loaded then
__getattr__, __dir__ = lazily(__name__, _HANDED_OUT)
