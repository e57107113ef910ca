"""Kafka's CooperativeStickyAssignor (KIP-429): sticky, and members go on reading while they join.

A partition that moves belongs to nobody in this generation: its owner gives it up and rejoins, and
the next generation assigns it to its new owner. So no two members ever read it at the same time.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client.consumer.assignors.assignor import (
    Assignment,
    Held,
    PartitionsByTopic,
    RebalanceProtocol,
    Subscriptions,
)
from logquake.client.consumer.assignors.sticky import share_out
from logquake.client.consumer.assignors.subscriptions import Subscription
from logquake.client.consumer.assignors.user_data import CooperativeStickyUserData
from logquake.wire.errors import ProtocolError
from logquake.wire.schema import decode, encode
from logquake.wire.sentinels import NO_GENERATION
from logquake.wire.topic_partition import TopicPartition


class CooperativeStickyAssignor:
    name = "cooperative-sticky"
    # Eager too: so a group goes over to it from another, a member at a time, in two rounds.
    protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def user_data(self, held: Held | None, /) -> bytes | None:
        generation = NO_GENERATION if held is None else held.generation
        return encode(CooperativeStickyUserData(generation=generation), 0)

    def assign(self, partitions: PartitionsByTopic, members: Subscriptions) -> Assignment:
        said = {member: Held(each.owned, _generation(each)) for member, each in members.items()}
        assigned, moving = share_out(partitions, members, said)
        if moving is None:
            moving = _added_and_owned(assigned, members)
        for place, member in moving.items():
            assigned[member].remove(place)
        return assigned


def _generation(said: Subscription) -> int:
    """Of the subscription, or of the user data of members from before KIP-792."""
    if said.generation != NO_GENERATION:
        return said.generation
    try:
        return decode(CooperativeStickyUserData, 0, said.user_data or b"").generation
    except ProtocolError:
        return NO_GENERATION


def _added_and_owned(assigned: Assignment, members: Subscriptions) -> Mapping[TopicPartition, str]:
    """What a member gets that another one owns."""
    owned = {member: frozenset(said.owned) for member, said in members.items()}
    revoked = frozenset[TopicPartition]().union(
        *(owned[member].difference(given) for member, given in assigned.items())
    )
    return {
        place: member
        for member, given in assigned.items()
        for place in given
        if place in revoked and place not in owned[member]
    }
