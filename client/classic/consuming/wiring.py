"""How the parts of a ConsumerConnector are connected."""

from __future__ import annotations

from random import Random
from threading import Event

from logquake.client.classic.channel import Dial
from logquake.client.classic.consuming.fetchers import Fetchers
from logquake.client.classic.consuming.leaders import LeadersByMetadata
from logquake.client.classic.consuming.offsets import (
    OffsetsInKafka,
    OffsetsInZooKeeper,
    OffsetStore,
)
from logquake.client.classic.consuming.statistics import ConsumerStatistics
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.settings.consumer import ConsumerConfig, OffsetsStorage
from logquake.client.classic.simple_consumer import SimpleConsumer
from logquake.client.classic.topic_metadata import Broker, MetadataAsker


def new_offset_store(
    zk: ZkClient,
    config: ConsumerConfig,
    dial: Dial,
    stopping: Event,
    statistics: ConsumerStatistics,
) -> OffsetStore:
    """As offsets.storage says."""
    in_zookeeper = OffsetsInZooKeeper(zk, config.group_id, statistics)
    if config.offsets_storage is OffsetsStorage.ZOOKEEPER:
        return in_zookeeper
    beside = in_zookeeper if config.dual_commit_enabled else None
    return OffsetsInKafka(zk, config, dial, stopping, statistics, beside)


def new_fetchers(
    consumer: str, zk: ZkClient, config: ConsumerConfig, dial: Dial, random: Random
) -> Fetchers:
    def leaders() -> LeadersByMetadata:
        asker = MetadataAsker(dial, config.client_id, config.socket_timeout_ms, random)
        return LeadersByMetadata(zk, asker)

    def connect(broker: Broker) -> SimpleConsumer:
        host, port = broker.address
        return SimpleConsumer(host, port, config.socket_timeout_ms, config.client_id, dial=dial)

    return Fetchers(consumer, config, leaders, connect)
