"""Keys of 0.7, as in the first documentation, accepted as other names for 0.8's."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.errors import SettingsError
from logquake.client.settings.keys import name_of

_ZOOKEEPER = {
    "zk.connect": "zookeeper.connect",
    "zk.sessiontimeout.ms": "zookeeper.session.timeout.ms",
    "zk.connectiontimeout.ms": "zookeeper.connection.timeout.ms",
    "zk.synctime.ms": "zookeeper.sync.time.ms",
}
OF_PRODUCERS = {
    **_ZOOKEEPER,
    "broker.list": "metadata.broker.list",
    "queue.time": "queue.buffering.max.ms",
    "queue.size": "queue.buffering.max.messages",
    "queue.enqueueTimeout.ms": "queue.enqueue.timeout.ms",
    "batch.size": "batch.num.messages",
    "num.retries": "message.send.max.retries",
}
OF_CONSUMERS = {
    **_ZOOKEEPER,
    "groupid": "group.id",
    "consumerid": "consumer.id",
    "fetch.size": "fetch.message.max.bytes",
    "queuedchunks.max": "queued.max.message.chunks",
    "autocommit.enable": "auto.commit.enable",
    "autocommit.interval.ms": "auto.commit.interval.ms",
    "autooffset.reset": "auto.offset.reset",
    "rebalance.retries.max": "rebalance.max.retries",
}


def in_newer_words(given: Mapping[str, object], older: Mapping[str, str]) -> dict[str, object]:
    """Raises SettingsError for a key that is given under both names."""
    newer: dict[str, object] = {}
    for spelt, value in given.items():
        name = older.get(name_of(spelt), spelt)
        if name_of(name) in map(name_of, newer):
            raise SettingsError(f"{name_of(name)} is set twice: {spelt} is its older name")
        newer[name] = value
    return newer
