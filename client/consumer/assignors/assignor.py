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
    """KIP-429. A group uses the best protocol that all assignors in its members' lists support."""

    EAGER = 0  # all is given up before a member joins again
    COOPERATIVE = 1  # only what another member gets


@dataclass(frozen=True, slots=True)
class Held:
    """A member's last assignment, and its generation; a sticky assignor sends it to the leader."""

    partitions: tuple[TopicPartition, ...]
    generation: int = NO_GENERATION


class Assignor(Protocol):
    @property
    def name(self) -> str:
        """The name by which members agree on an assignor."""

    @property
    def protocols(self) -> tuple[RebalanceProtocol, ...]: ...

    def user_data(self, held: Held | None, /) -> bytes | None:
        """What a member adds to its subscription for the leader; None held before the first."""

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions, /) -> Assignment:
        """Assign all partitions of the members' topics. Unknown topics are left out."""


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
