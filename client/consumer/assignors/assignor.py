"""The interface of assignors (Kafka's ConsumerPartitionAssignor, without its state)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from logquake.client.consumer.assignors.subscriptions import Subscription
from logquake.wire.sentinels import NO_GENERATION
from logquake.wire.topic_partition import TopicPartition

# Of every partition, by its number, the racks of its replicas; only topics that are known.
PartitionsByTopic = Mapping[str, Sequence[frozenset[str]]]
Subscriptions = Mapping[str, Subscription]  # by member id
Assignment = dict[str, list[TopicPartition]]  # by member id, one entry a member


class RebalanceProtocol(Enum):
    """KIP-429. A group goes by the most that the assignors in its members' lists all can."""

    EAGER = 0  # all is given up before a member joins again
    COOPERATIVE = 1  # only what another member gets


@dataclass(frozen=True, slots=True)
class Held:
    """What a member was last given, and when; a sticky assignor tells it to the leader."""

    partitions: tuple[TopicPartition, ...]
    generation: int = NO_GENERATION


class Assignor(Protocol):
    @property
    def name(self) -> str:
        """By which members agree on it."""

    @property
    def protocols(self) -> tuple[RebalanceProtocol, ...]: ...

    def user_data(self, held: Held | None, /) -> bytes | None:
        """What a member adds to its subscription for the leader; None held before the first."""

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions, /) -> Assignment:
        """Share all partitions of the topics that anyone wants. Topics unknown are left out."""


def places_of(topic: str, partitions: PartitionsByTopic) -> list[TopicPartition]:
    return [TopicPartition(topic, one) for one in range(len(partitions.get(topic, ())))]


def in_order(members: Subscriptions) -> list[str]:
    """Static members by their instance id, then the others by member id (Kafka's MemberInfo).

    Member ids are new after each restart, instance ids are not: a static member keeps its place.
    """

    def key(member: str) -> tuple[bool, str]:
        instance_id = members[member].instance_id
        return (instance_id is None, instance_id or member)

    return sorted(members, key=key)
