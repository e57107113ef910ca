"""The partitions' leaders, from the brokers that ZooKeeper lists (LeaderFinderThread)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from logquake.client.classic.coordination.brokers import live_brokers
from logquake.client.classic.coordination.client import ZkClient
from logquake.client.classic.topic_metadata import MetadataAsker, TopicMetadata


class LeadersByMetadata:
    def __init__(self, zk: ZkClient, asker: MetadataAsker) -> None:
        self._zk = zk
        self._asker = asker

    def find(self, topics: Collection[str]) -> Sequence[TopicMetadata]:
        """Raises ClientError."""
        brokers = self._zk.run(live_brokers())
        return self._asker.ask([broker.address for broker in brokers], topics)

    def interrupt(self) -> None:
        self._asker.interrupt()
