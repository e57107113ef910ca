"""The partitions that this broker has a replica of, by name and by topic id."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from logquake.node.metadata.cache import MetadataCache
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.values import PartitionKey
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID

# A partition that is hosted here, or why it cannot be served here.
Located = Partition | ErrorCode


_BY_NAME = attrgetter("topic", "index")


class HostedPartitions:
    def __init__(self, metadata: MetadataCache) -> None:
        self._metadata = metadata
        self._by_key: dict[PartitionKey, Partition] = {}  # each by name, and by id if it has one
        self._in_order: list[Partition] | None = None  # until one comes or goes
        self._failed: set[TopicPartition] = set()

    def __iter__(self) -> Iterator[Partition]:
        """All partitions, by topic and index."""
        if self._in_order is None:
            found = [p for (topic, _), p in self._by_key.items() if isinstance(topic, str)]
            self._in_order = sorted(found, key=_BY_NAME)
        return iter(self._in_order)

    def get(self, topic: str, index: int) -> Partition | None:
        return self._by_key.get((topic, index))

    def locate(self, topic: str, index: int) -> Located:
        """The partition, or the error for a request that names it."""
        partition = self._by_key.get((topic, index))
        return partition if partition is not None else self._absence(topic, index)

    def locate_key(self, key: PartitionKey, topic: str | None) -> Located:
        """The same by key; topic is the name that goes with an id, None if nobody knows it."""
        partition = self._by_key.get(key)
        if partition is not None:
            return partition
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        return self._absence(topic, key[1])

    def has(self, partition: Partition) -> bool:
        """Whether it still is the one of its name."""
        return self.get(partition.topic, partition.index) is partition

    def add(self, partition: Partition) -> None:
        self._in_order = None
        self._by_key[partition.topic, partition.index] = partition
        if partition.topic_id != ZERO_UUID:
            self._by_key[partition.topic_id, partition.index] = partition

    def remove(self, partition: Partition) -> None:
        self._in_order = None
        self._by_key.pop((partition.topic, partition.index), None)
        self._by_key.pop((partition.topic_id, partition.index), None)

    def fail(self, topic: str, index: int) -> None:
        """The disk refused the partition before it could be hosted."""
        self._failed.add(TopicPartition(topic, index))

    def _absence(self, topic: str, index: int) -> ErrorCode:
        if (topic, index) in self._failed:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if self._metadata.partition(topic, index) is not None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
