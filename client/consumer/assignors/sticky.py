"""Kafka's StickyAssignor (KIP-54): as even as possible, and each member keeps what it had.

Members give up everything before they join (it is eager), so the user data of their subscriptions
says what they had.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    RebalanceProtocol,
    Subscriptions,
)
from logquake.client.consumer.assignors.claims import settle
from logquake.client.consumer.assignors.constrained import ConstrainedAssignment
from logquake.client.consumer.assignors.general import GeneralAssignment
from logquake.client.consumer.assignors.racks import RackMatching
from logquake.client.consumer.assignors.subscriptions import by_topic, places
from logquake.client.consumer.assignors.user_data import StickyUserData
from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_protocol import AssignedTopicPartitions
from logquake.wire.schema import decode, encode
from logquake.wire.topic_partition import TopicPartition


class StickyAssignor:
    name = "sticky"
    protocols = (RebalanceProtocol.EAGER,)

    def user_data(self, held: Held | None, /) -> bytes | None:
        if held is None:
            return None
        previous = [
            AssignedTopicPartitions(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(held.partitions).items()
        ]
        data = StickyUserData(previous_assignment=previous, generation=held.generation)
        return encode(data, 1)

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        said = {member: _decode(members[member].user_data) for member in members}
        return share_out(partitions, members, said).assigned


class StickyShares(NamedTuple):
    assigned: Assignment
    # What another member owns until it has given it up, and who gets it; None: not known.
    moving: Mapping[TopicPartition, str] | None


def share_out(
    partitions: PartitionsByTopic, members: Subscriptions, said: Mapping[str, Held]
) -> StickyShares:
    """`said`: what each member reports that it had.

    No member gets a partition of a topic that it does not want. In Kafka that happens to a member
    without topics that comes first, and to one that had a partition before the last generation.
    """
    wanted = {member: frozenset(members[member].topics) for member in sorted(members)}
    every_topic = frozenset[str]().union(*wanted.values())
    known = {topic: racks for topic, racks in partitions.items() if racks and topic in every_topic}
    said = {member: said[member] for member in wanted}
    racks = RackMatching(known, members)
    claims = settle(said, known)
    if all(topics == every_topic for topics in wanted.values()):
        alike = ConstrainedAssignment(known, racks, claims)
        return StickyShares(alike.build(), alike.moving)
    return StickyShares(GeneralAssignment(known, members, racks, said, claims).build(), None)


def _decode(user_data: bytes | None) -> Held:
    """Nothing for unreadable data, as in Kafka: only that member loses its stickiness."""
    for version in (1, 0):
        try:
            found = decode(StickyUserData, version, user_data or b"")
        except ProtocolError:
            continue
        had = places((each.topic, each.partitions) for each in found.previous_assignment)
        return Held(had, found.generation)
    return Held(())
