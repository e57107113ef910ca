"""Who coordinates a group or a transactional id: who leads its partition of an internal topic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from logquake.node.metadata.cache import MetadataCache
from logquake.wire.java_text import string_hash
from logquake.wire.topic_partition import TopicPartition

_LARGEST_HASH = 2**31 - 1
# A member asks with every heartbeat: of so many names it is remembered, in less than a megabyte.
_REMEMBERED = 1_024
_REMEMBERED_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class CoordinatorTopic:
    """``partitions`` is how many there were when the broker started, or are going to be when the
    topic is made: keys hash to so many for as long as it runs, as in Kafka. What the controller
    tells of partitions cannot be counted, since it leaves out those whose states are set aside.
    """

    name: str
    partitions: int

    def partition_of(self, key: str) -> TopicPartition:
        return TopicPartition(self.name, partition_for(key, self.partitions))


class CoordinatorTopics(NamedTuple):
    groups: CoordinatorTopic
    transactions: CoordinatorTopic


def coordinator_of(metadata: MetadataCache, topic: CoordinatorTopic, key: str) -> int | None:
    """Its broker id, as told to this broker; None where the topic or the partition is not known.

    It may be NO_LEADER, or a broker that is gone.
    """
    image = metadata.topic(topic.name)
    state = None if image is None else image.partitions.get(topic.partition_of(key).partition)
    return None if state is None else state.leader


def partition_for(key: str, partitions: int) -> int:
    """GroupMetadataManager.partitionFor, with Utils.abs: the smallest int counts as 0."""
    find = _remembered if len(key) <= _REMEMBERED_CHARACTERS else _hashed
    return find(key, partitions)


def _hashed(key: str, partitions: int) -> int:
    hashed = abs(string_hash(key))
    return 0 if hashed > _LARGEST_HASH else hashed % partitions


_remembered = lru_cache(_REMEMBERED)(_hashed)
