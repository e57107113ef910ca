"""Which of the partitions that members claim to own are theirs (AbstractStickyAssignor)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.client.consumer.assignors.assignor import Held, PartitionsByTopic
from logquake.wire.sentinels import NO_GENERATION
from logquake.wire.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Claims:
    owned: dict[str, list[TopicPartition]]  # by member, each partition at most once
    # Claimed twice in one generation: nobody keeps them, or two would read them at once.
    contested: frozenset[TopicPartition]
    newest_generation: int


def settle(said: Mapping[str, Held], partitions: PartitionsByTopic) -> Claims:
    """The newer generation's claim counts; a member that missed a rebalance lost what it had.

    What is no partition any more is nobody's.

    Kafka compares with the generation in the other's subscription, which clients before 3.5 do not
    send with the sticky assignor; here it is what the other's own claim says.
    """
    owned: dict[str, list[TopicPartition]] = {member: [] for member in said}
    contested: set[TopicPartition] = set()
    owner: dict[TopicPartition, str] = {}
    for member, held in said.items():
        for place in held.partitions:
            if place.partition >= len(partitions.get(place.topic, ())):
                continue
            other = owner.get(place)
            if other is not None:
                if held.generation < said[other].generation:
                    continue
                if place in owned[other]:
                    owned[other].remove(place)
            owner[place] = member
            if other is not None and held.generation == said[other].generation:
                contested.add(place)
            else:
                owned[member].append(place)
    newest = max((held.generation for held in said.values()), default=NO_GENERATION)
    return Claims(owned, frozenset(contested), newest)
