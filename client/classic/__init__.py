"""The clients of Kafka's first documentation, as of 0.8, with 0.7's hooks.

    producer.py         messages sent at once, or from a queue by its own thread
    simple_consumer.py  requests to one broker, made by hand
    consumer_connector.py  streams of messages for the consumers of a group
    producing/          what happens between send() and the brokers
    consuming/          the parts of a ConsumerConnector
    coordination/       access to ZooKeeper
    settings/           their configuration, under the names of 0.8 and of 0.7
    messages.py         messages, and message sets of magic 0 and 1
    partitioner.py      which partition a key belongs to; hashing.py: by Java's hashes
    serializer.py       encoders and decoders
    topic_metadata.py   the leaders of partitions
    requests.py, offset_requests.py    requests, in the versions of their time: versions.py
    channel.py          one connection, and waiting for its response
    errors.py           the errors that they raise

Sources: kafka.producer, kafka.consumer, kafka.javaapi and kafka.api of 0.8.2.2; the hooks are those
of kafka.producer.async in 0.7.2. Names are Python's; docstrings give the original ones.

Caveats: plaintext only, as in their time. Brokers since 4.0 no longer support these versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.client.lazy_exports import lazily

if TYPE_CHECKING:
    from logquake.client.classic.consumer_connector import ConsumerConnector as ConsumerConnector
    from logquake.client.classic.consuming.topic_filter import Blacklist as Blacklist
    from logquake.client.classic.consuming.topic_filter import Whitelist as Whitelist
    from logquake.client.classic.messages import KeyedMessage as KeyedMessage
    from logquake.client.classic.offset_requests import KeptIn as KeptIn
    from logquake.client.classic.producer import Producer as Producer
    from logquake.client.classic.producing.hooks import CallbackHandler as CallbackHandler
    from logquake.client.classic.requests import FetchFrom as FetchFrom
    from logquake.client.classic.serializer import StringDecoder as StringDecoder
    from logquake.client.classic.serializer import StringEncoder as StringEncoder
    from logquake.client.classic.simple_consumer import SimpleConsumer as SimpleConsumer
    from logquake.client.classic.versions import Release as Release

# Loaded on first use: a program that only produces needs no ZooKeeper.
_HANDED_OUT = {
    "Blacklist": "consuming.topic_filter",
    "CallbackHandler": "producing.hooks",
    "ConsumerConnector": "consumer_connector",
    "FetchFrom": "requests",
    "KeptIn": "offset_requests",
    "KeyedMessage": "messages",
    "Producer": "producer",
    "Release": "versions",
    "SimpleConsumer": "simple_consumer",
    "StringDecoder": "serializer",
    "StringEncoder": "serializer",
    "Whitelist": "consuming.topic_filter",
}

_MODULES = {name: f"{__name__}.{module}" for name, module in _HANDED_OUT.items()}
__all__ = sorted(_MODULES)  # noqa: PLE0605
__getattr__, __dir__ = lazily(__name__, _MODULES)
