"""Which broker gets which messages (DefaultEventHandler.partitionAndCollate)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from logquake.client.classic.errors import NoPartitionError
from logquake.client.classic.messages import Message
from logquake.client.classic.partitioner import Partitioner
from logquake.client.classic.topic_metadata import Broker, PartitionMetadata
from logquake.client.errors import NoLeaderError
from logquake.wire.topic_partition import TopicPartition

PartitionsOf = Callable[[str], Sequence[PartitionMetadata]]


@dataclass(frozen=True, slots=True)
class Serialized:
    """A message's bytes, with the key that determines its partition."""

    topic: str
    partition_key: Any
    message: Message


Collated = dict[Broker | None, dict[TopicPartition, list[Serialized]]]
"""By leader, None for partitions without one at the moment."""


class Collation:
    """Messages without a key go to one partition of their topic, which has a leader, until the next
    metadata refresh: this needs fewer connections than choosing for each of them.
    """

    def __init__(self, partitioner: Partitioner, random: Random) -> None:
        self._partitioner = partitioner
        self._random = random
        self._without_key: dict[str, int] = {}

    def forget(self) -> None:
        """Choose anew for messages without a key."""
        self._without_key.clear()

    def collate(self, messages: Iterable[Serialized], partitions_of: PartitionsOf) -> Collated:
        """Keeps the order within a partition. Raises NoLeaderError, NoPartitionError, and what
        ``partitions_of`` raises.
        """
        collated: Collated = {}
        for each in messages:
            partitions = partitions_of(each.topic)
            chosen = partitions[self._choose(each, partitions)]
            of_broker = collated.setdefault(chosen.leader, {})
            of_broker.setdefault(TopicPartition(each.topic, chosen.partition), []).append(each)
        return collated

    def _choose(self, message: Serialized, partitions: Sequence[PartitionMetadata]) -> int:
        """Returns an index: partitions are numbered from 0 without gaps."""
        if message.partition_key is None:
            index = self._any(message.topic, partitions)
        else:
            index = self._partitioner.partition(message.partition_key, len(partitions))
        if not 0 <= index < len(partitions):
            raise NoPartitionError(
                f"{message.topic} has no partition {index}: there are {len(partitions)}"
            )
        return index

    def _any(self, topic: str, partitions: Sequence[PartitionMetadata]) -> int:
        chosen = self._without_key.get(topic)
        if chosen is None or not _is_led(partitions[chosen : chosen + 1]):
            led = [index for index, each in enumerate(partitions) if each.leader is not None]
            if not led:
                raise NoLeaderError(f"no partition of {topic} has a leader")
            chosen = self._without_key[topic] = self._random.choice(led)
        return chosen


def _is_led(partitions: Sequence[PartitionMetadata]) -> bool:
    return any(each.leader is not None for each in partitions)
